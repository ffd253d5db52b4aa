// A stream of the web platform over a generator. A part is made only when the reader asks for it, so that a slow reader slows
// its own generation.

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** `stop` ends the generation, also while a read waits for it. */
export function toReadableStream(
  parts: AsyncGenerator<LanguageModelV4StreamPart, void, undefined>,
  stop: () => Promise<void>,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await stop();
        await parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}
