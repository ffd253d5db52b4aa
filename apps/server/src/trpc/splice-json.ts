// Puts results that are JSON text already into the replies of tRPC, which prints a placeholder for each. Caller: `app.ts`.

import type { JsonText } from '@ortler/api';

/**
 * Replaces the placeholders, with their quotes, by the texts. tRPC prints a value in one piece, so a placeholder never lies
 * on the border of two chunks; one that is missing ends the stream with an error instead of a wrong reply.
 * @param texts May grow while the reply is written: a streamed reply begins before its results are there.
 */
export function spliceJson(texts: readonly JsonText[]): TransformStream<Uint8Array, Uint8Array> {
  const placed = new Set<JsonText>();
  return new TransformStream({
    transform(chunk, controller) {
      const rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const places = texts
        .filter(text => !placed.has(text))
        .map(text => ({ text, start: rest.indexOf(`"${text.placeholder}"`) }))
        .filter(({ start }) => start !== -1)
        .sort((a, b) => a.start - b.start);
      let position = 0;
      for (const { text, start } of places) {
        controller.enqueue(rest.subarray(position, start));
        for (const part of text.parts) controller.enqueue(part);
        position = start + text.placeholder.length + 2;
        placed.add(text);
      }
      controller.enqueue(rest.subarray(position));
    },
    flush(controller) {
      if (placed.size < texts.length)
        controller.error(new Error('A result has no place in the reply of tRPC.'));
    },
  });
}
