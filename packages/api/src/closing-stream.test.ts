import { describe, expect, it, vi } from 'vitest';
import { closingStream } from './closing-stream.ts';

async function* letters(): AsyncGenerator<string, void, undefined> {
  yield 'a';
  yield 'b';
}

describe('closingStream', () => {
  it('gives the first item and the rest, and closes once at the end', async () => {
    const onClose = vi.fn();
    const items = letters();
    const stream = closingStream(items, { first: await items.next(), onClose });
    const seen: string[] = [];
    for await (const letter of stream) seen.push(letter);
    expect(seen).toEqual(['a', 'b']);
    await stream.return();
    expect(onClose).toHaveBeenCalledTimes(1);
  });

  it('closes when it is left before anything was read', async () => {
    const onClose = vi.fn();
    await closingStream(letters(), { onClose }).return();
    expect(onClose).toHaveBeenCalledTimes(1);
  });

  it('closes when the items fail', async () => {
    const onClose = vi.fn();
    const items = letters();
    const stream = closingStream(items, { onClose });
    await stream.next();
    await expect(stream.throw(new Error('broken'))).rejects.toThrow('broken');
    expect(onClose).toHaveBeenCalledTimes(1);
  });
});
