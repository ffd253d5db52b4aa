// Our engine as a contestant, as an embedder uses it: one engine, one request for each stream.

import { createEngine } from '@ortler/engine';
import type { ContestantOptions } from './contestant.ts';
import { serveContestant } from './serve-contestant.ts';

serveContestant(async ({ modelPath, threadCount, maxStreams, contextLength, ...own }: ContestantOptions) => {
  const engine = await createEngine({
    modelDir: modelPath,
    device: 'cpu',
    threadCount,
    maxSequences: maxStreams,
    contextLength,
    tuning: { mixedChunkLength: own.mixedChunkLength, speculativeDecoding: own.speculativeDecoding },
  });
  return {
    version: `ONNX Runtime ${engine.info.onnxRuntimeVersion}, ${engine.info.backend}`,
    async *generate(prompt: readonly number[], outputLength: number): AsyncGenerator<number> {
      const events = engine.generate({
        prompt: { tokenIds: prompt },
        sampling: { temperature: 0 },
        stop: { maxTokens: outputLength, ignoreEos: true },
      });
      for await (const event of events) {
        if (event.kind === 'token-delta') yield* event.tokenIds;
      }
    },
  };
});
