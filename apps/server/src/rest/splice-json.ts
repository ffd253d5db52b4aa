// Puts results that are JSON text already into the replies of tRPC, which prints a placeholder for each. Caller: `app.ts`.

import type { JsonText } from '@ortler/api';

/**
 * Replaces the placeholders, with their quotes, by the texts. tRPC prints a value in one piece, so a placeholder never lies
 * on the border of two chunks; one that is missing ends the stream with an error instead of a wrong reply.
 */
export function spliceJson(texts: readonly JsonText[]): TransformStream<Uint8Array, Uint8Array> {
  const open = new Map(texts.map(({ placeholder, bytes }) => [placeholder, bytes]));
  return new TransformStream({
    transform(chunk, controller) {
      const rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const places = [...open]
        .map(([placeholder, bytes]) => ({ placeholder, bytes, start: rest.indexOf(`"${placeholder}"`) }))
        .filter(({ start }) => start !== -1)
        .sort((a, b) => a.start - b.start);
      let position = 0;
      for (const { placeholder, bytes, start } of places) {
        controller.enqueue(rest.subarray(position, start));
        controller.enqueue(bytes);
        position = start + placeholder.length + 2;
        open.delete(placeholder);
      }
      controller.enqueue(rest.subarray(position));
    },
    flush(controller) {
      if (open.size > 0) controller.error(new Error('A result has no place in the reply of tRPC.'));
    },
  });
}
