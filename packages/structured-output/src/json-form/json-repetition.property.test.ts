// The repetition guard: models that repeat themselves come to an end, and nothing else changes.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allows, byteEngine, prepare } from '../../test/feed-text.ts';
import type { JsonStyle } from '../constraint-spec.ts';

interface Written {
  readonly text: string;
  readonly isEnded: boolean;
}

/**
 * A model that goes on with the first preference that is allowed: each is a text, of which it likes the byte that continues the
 * longest part at the end of the answer. It takes any other byte when none of them is, the last one first.
 */
function write(
  schema: unknown,
  preferences: readonly string[],
  maxBytes: number,
  style: JsonStyle = {},
): Written {
  const matcher = byteEngine.compile(prepare({ jsonSchema: schema, style }).grammar);
  const mask = new Uint32Array(byteEngine.maskWordCount);
  let text = '';
  while (text.length < maxBytes && !matcher.mustStop()) {
    matcher.fillMask(mask);
    const isAllowed = (byte: number) => ((mask[byte >>> 5]! >>> (byte & 31)) & 1) === 1;
    const liked = preferences.map(preference => nextByte(text, preference)).find(isAllowed);
    const others = Array.from({ length: 95 }, (_, i) => 126 - i).filter(isAllowed);
    const next = liked ?? others[0] ?? 0x0a;
    expect(matcher.accept(next)).toBe(true);
    text += String.fromCharCode(next);
  }
  const isEnded = matcher.mustStop();
  matcher.dispose();
  return { text, isEnded };
}

function nextByte(text: string, preference: string): number {
  const endless = preference.repeat(3);
  for (let length = Math.min(text.length, preference.length); length > 0; length--) {
    const at = endless.indexOf(text.slice(-length));
    if (at !== -1) return endless.charCodeAt(at + length);
  }
  return preference.charCodeAt(0);
}

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const CLOSED = { ...NAME, additionalProperties: false };
const LIST = { type: 'array', items: { type: 'string' } };
/** Units of plain letters, so that a model does not write the end of a string by itself. */
const units = fc.string({ unit: fc.constantFrom(...'abc ,.-'), minLength: 1, maxLength: 60 });

describe('a text that repeats itself', () => {
  it('comes to its end, and the answer with it', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(units, unit => {
        const { text, isEnded } = write(CLOSED, [unit], 700);
        expect(isEnded, text).toBe(true);
        expect(JSON.parse(text)).toEqual({ name: expect.any(String) });
        expect(write(CLOSED, [unit], 700, { guardRepetition: false }).isEnded).toBe(false);
      }),
      { numRuns: 10 },
    );
  });

  it('may go on in another way once, and ends when it repeats itself soon again', () => {
    const { text } = write(CLOSED, ['ab'], 1_000);
    const { name } = JSON.parse(text) as { name: string };
    expect(name).toMatch(/^(?:ab){47,49}a?~(?:ab){47,49}a?[^ab]?$/);
  });

  it('is whole where the schema has it', () => {
    const long = 'ab'.repeat(200);
    expect(allows(prepare({ jsonSchema: { const: long } }), JSON.stringify(long))).toBe(true);
    const pattern = { type: 'string', pattern: '^(?:ab){150}$' };
    expect(allows(prepare({ jsonSchema: pattern }), JSON.stringify('ab'.repeat(150)))).toBe(true);
    const short = 'ab '.repeat(30);
    expect(allows(prepare({ jsonSchema: { type: 'string' } }), JSON.stringify(short))).toBe(true);
  });

  it('reaches its minimum before it ends', () => {
    const { text, isEnded } = write({ type: 'string', minLength: 300 }, ['ab'], 1_000);
    expect(isEnded).toBe(true);
    expect((JSON.parse(text) as string).length).toBeGreaterThanOrEqual(300);
  });
});

describe('members that repeat themselves', () => {
  it('are the last ones of their list, at any depth', () => {
    const { text, isEnded } = write(
      { type: 'object', properties: { names: LIST }, required: ['names'] },
      ['"Ben",'],
      2_000,
    );
    expect(isEnded, text).toBe(true);
    const { names } = JSON.parse(text) as { names: string[] };
    expect(new Set(names)).toEqual(new Set(['Ben']));
    expect(names.length).toBeLessThan(20);
  });

  it('are the last ones of their object', () => {
    const { text, isEnded } = write(NAME, ['"name":"x",', '"b":"c",'], 2_000);
    expect(isEnded, text).toBe(true);
    expect(text.length).toBeLessThan(200);
  });

  it('go on up to the minimum of their list', () => {
    const { text, isEnded } = write({ ...LIST, minItems: 40 }, ['"Ben",'], 2_000);
    expect(isEnded).toBe(true);
    expect(JSON.parse(text)).toHaveLength(40);
  });

  it('are data in lists of numbers', () => {
    const zeros = JSON.stringify(Array(200).fill(0));
    expect(allows(prepare({ jsonSchema: { type: 'array', items: { type: 'integer' } } }), zeros)).toBe(true);
  });

  it('may be equal as long as they are few', () => {
    const names = JSON.stringify(Array(10).fill('Ben Miller'.slice(0, 6)));
    expect(allows(prepare({ jsonSchema: LIST }), names)).toBe(true);
  });
});
