import { expect, it } from 'vitest';
import { createScreenLines, type Screen } from './screen-lines.ts';

/** A terminal that knows the codes for a movement up and for clearing, and no other. */
class FakeScreen implements Screen {
  readonly columns = 20;
  readonly #rows = [''];
  #row = 0;

  write(text: string): void {
    const [plain = '', ...coded] = text.split('\x1b[');
    this.#print(plain);
    for (const part of coded) {
      const length = /^\d+[A-Z]/.exec(part)![0].length;
      this.#move(part.slice(0, length));
      this.#print(part.slice(length));
    }
    expect(this.#row).toBeGreaterThanOrEqual(0);
  }

  #move(code: string): void {
    if (code.endsWith('A')) this.#row -= Number.parseInt(code, 10);
    else if (code === '0J') this.#rows.length = this.#row + 1;
    else expect(code).toBe('0K');
  }

  #print(text: string): void {
    for (const part of text.match(/\n|[^\r\n]+/g) ?? []) {
      if (part === '\n') this.#rows[++this.#row] ??= '';
      else this.#rows[this.#row] = part;
    }
  }

  rows(): readonly string[] {
    return this.#rows.slice(0, -1);
  }
}

it('draws lines in place, cuts them at the width of the screen, and keeps what is written above them', () => {
  const screen = new FakeScreen();
  const lines = createScreenLines(screen);
  lines.set('a', 'a 10%');
  lines.set('b', 'b 10%');
  lines.set('a', `a 20% ${'='.repeat(40)}`);
  expect(screen.rows()).toEqual(['a 20% =============', 'b 10%']);
  lines.above(() => screen.write('a is ready\n'));
  expect(screen.rows()).toEqual(['a is ready', 'a 20% =============', 'b 10%']);
  lines.remove('a');
  lines.set('b', 'b 90%');
  expect(screen.rows()).toEqual(['a is ready', 'b 90%']);
  lines.above(() => screen.write('c failed\n'));
  lines.clear();
  lines.above(() => screen.write('b is ready\n'));
  expect(screen.rows()).toEqual(['a is ready', 'c failed', 'b is ready']);
});

it('writes nothing where a line stays as it is, or is unknown', () => {
  const written: string[] = [];
  const lines = createScreenLines({ write: text => written.push(text) });
  lines.set('a', 'a');
  written.length = 0;
  lines.set('a', 'a');
  lines.remove('b');
  expect(written).toEqual([]);
});
