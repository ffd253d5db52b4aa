// A started answer -> all stream parts of a call. An abort is thrown, as the AI SDK expects of it; every other failure after
// the first event is a part.

import type { LanguageModelV4ResponseMetadata, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { PartWriter } from './part-writer.ts';
import type { StartedAnswer } from './start-answer.ts';

export interface StreamPartOptions {
  readonly response: LanguageModelV4ResponseMetadata;
  /** Give each event of the engine as it is, before its parts. */
  readonly includeRawChunks: boolean;
}

/** Throws: the reason of an abort. */
export async function* toStreamParts(
  { warnings, prompt, events, isAborted }: StartedAnswer,
  { response, includeRawChunks }: StreamPartOptions,
): AsyncGenerator<LanguageModelV4StreamPart, void, undefined> {
  const writer = new PartWriter(prompt);
  yield { type: 'stream-start', warnings: [...warnings] };
  yield { type: 'response-metadata', ...response };
  if (includeRawChunks) yield { type: 'raw', rawValue: prompt };
  try {
    for await (const event of events) {
      if (includeRawChunks) yield { type: 'raw', rawValue: event };
      yield* writer.write(event);
    }
  } catch (error) {
    if (isAborted()) throw error;
    yield* writer.fail(error);
  }
}
