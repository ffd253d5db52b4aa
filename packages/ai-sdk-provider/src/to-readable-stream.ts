// A stream of the web platform over a generator. A part is made only when the reader asks for it, so that a slow reader slows
// its own generation.

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** `stop` ends a read that waits for the engine. */
export function toReadableStream(
  parts: AsyncGenerator<LanguageModelV4StreamPart, void, undefined>,
  stop: () => void,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        stop();
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}
