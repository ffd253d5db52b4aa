import { describe, expect, it } from 'vitest';
import { peekBytes } from './peek-bytes.ts';

/** Parts of the given lengths; `seen` counts those that were asked for. */
async function* parts(lengths: readonly number[], seen = { count: 0, isEnded: false }) {
  try {
    for (const length of lengths) {
      seen.count++;
      yield new Uint8Array(length).fill(seen.count);
    }
  } finally {
    seen.isEnded = true;
  }
}

async function lengthsOf(bytes: AsyncIterable<Uint8Array>): Promise<number[]> {
  const lengths: number[] = [];
  for await (const part of bytes) lengths.push(part.length);
  return lengths;
}

describe('the beginning of a stream', () => {
  it.each([
    [[], true],
    [[10], true],
    [[4, 6], true],
    [[11], false],
    [[6, 5, 7, 1], false],
  ])('of %j is whole: %s', async (lengths, isWhole) => {
    const peeked = await peekBytes(parts(lengths), 10);
    expect(peeked.isWhole).toBe(isWhole);
    expect(await lengthsOf(peeked.bytes)).toEqual(lengths);
  });

  it('leaves the rest unread', async () => {
    const seen = { count: 0, isEnded: false };
    const { bytes } = await peekBytes(parts([6, 6, 6, 6], seen), 10);
    expect(seen.count).toBe(2);
    for await (const _ of bytes) break;
    expect(seen).toEqual({ count: 2, isEnded: true });
  });
});
