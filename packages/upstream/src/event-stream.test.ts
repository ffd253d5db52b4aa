import { expect, it } from 'vitest';
import { EventStream } from './event-stream.ts';
import type { ReplyBody } from './reply-body.ts';
import type { Lease } from './server-pool.ts';

const MEBIBYTE = 1024 * 1024;

/** A body that sends the same piece for ever. */
function endless(piece: string) {
  const bytes = Buffer.from(piece);
  let count = 0;
  const read = async () => {
    count++;
    return bytes;
  };
  return {
    body: { read, leave: () => undefined } as unknown as ReplyBody,
    sentBytes: () => count * bytes.length,
  };
}

it.each([
  ['an end of line', 'data: x'.repeat(10_000)],
  ['an empty line', `data: ${'x'.repeat(60_000)}\n`],
  ['anything but empty lines of data', 'data\n'.repeat(200_000)],
])('ends the reading of an event that never ends: without %s', async (_, piece) => {
  const { body, sentBytes } = endless(piece);
  const lease = { end: () => undefined } as unknown as Lease;
  await expect(EventStream.start({ body, lease, outcomeOf: () => 'failed' })).rejects.toMatchObject({
    code: 'invalid_reply',
  });
  expect(sentBytes()).toBeLessThan(400 * MEBIBYTE);
});
