import { describe, expect, it } from 'vitest';
import { parseJsonBody } from './parse-json-body.ts';

/** Parts that own their memory, as those of a connection do. */
function cut(bytes: Uint8Array, partLength: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / partLength) }, (_, i) =>
    Uint8Array.from(bytes.subarray(i * partLength, (i + 1) * partLength)),
  );
}

const TEXT = 'é한😀\n"a"\\ '.repeat(30_000);
const LARGE = Buffer.from(JSON.stringify({ prompt: TEXT, n: 1 }));
const openai = { style: 'openai' } as const;

describe('a large body', () => {
  it.each([65_536, 65_535, 65_537, 16_384, 4_093])(
    'is the same in parts of %i bytes, whose memory is freed',
    async partLength => {
      const parts = cut(LARGE, partLength);
      expect(await parseJsonBody(parts, openai)).toEqual({ prompt: TEXT, n: 1 });
      for (const part of parts.filter(({ length }) => length >= 16_384)) expect(part.byteLength).toBe(0);
    },
  );

  it('may begin with a byte order mark, as a small one may', async () => {
    const mark = Buffer.from('\ufeff');
    expect(await parseJsonBody(cut(Buffer.concat([mark, LARGE]), 65_536), openai)).toHaveProperty('n', 1);
    expect(await parseJsonBody([Buffer.concat([mark, Buffer.from('{"n":1}')])], openai)).toEqual({ n: 1 });
  });

  it.each([
    [
      'a byte that is no UTF-8',
      Buffer.concat([LARGE.subarray(0, 400_000), Buffer.of(0xff), LARGE.subarray(400_000)]),
    ],
    ['half a character at its end', Buffer.concat([LARGE, Buffer.of(0xc3)])],
    ['no end', LARGE.subarray(0, -9)],
  ])('is refused with %s, and its memory is freed', async (_name, bytes) => {
    const parts = cut(bytes, 65_536);
    await expect(parseJsonBody(parts, openai)).rejects.toMatchObject({ reason: 'malformed_request' });
    for (const part of parts.filter(({ length }) => length >= 16_384)) expect(part.byteLength).toBe(0);
  });

  it('is not parsed once its client has left, and its memory is freed', async () => {
    const parts = cut(LARGE, 65_536);
    const reason = new Error('left');
    await expect(parseJsonBody(parts, { ...openai, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(parts[0]!.byteLength).toBe(0);
  });
});
