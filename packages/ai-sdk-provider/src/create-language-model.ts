// A language model of the AI SDK (specification v4). `doGenerate` joins the parts that `doStream` streams.

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { collectResult } from './collect-result.ts';
import type { GenerationEngine } from './generation-engine.ts';
import { PROVIDER_NAME } from './provider-options.ts';
import { startAnswer } from './start-answer.ts';
import { toReadableStream } from './to-readable-stream.ts';
import { toStreamParts } from './to-stream-parts.ts';

export interface LanguageModelOptions {
  readonly modelId: string;
  readonly createResponseId: () => string;
  readonly now: () => Date;
}

export function createLanguageModel(
  engine: GenerationEngine,
  { modelId, createResponseId, now }: LanguageModelOptions,
): LanguageModelV4 {
  async function start(options: LanguageModelV4CallOptions) {
    const timestamp = now();
    const answer = await startAnswer(engine, modelId, options);
    const parts = toStreamParts(answer, {
      response: { id: createResponseId(), timestamp, modelId },
      includeRawChunks: options.includeRawChunks ?? false,
    });
    return { parts, stop: answer.stop };
  }

  return {
    specificationVersion: 'v4',
    provider: PROVIDER_NAME,
    modelId,
    supportedUrls: {},
    doGenerate: async options => collectResult((await start(options)).parts),
    doStream: async options => {
      const { parts, stop } = await start(options);
      return { stream: toReadableStream(parts, stop) };
    },
  };
}
