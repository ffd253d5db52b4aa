// node-llama-cpp as a contestant: one context with a sequence for each stream, its own batching.

import { getLlama } from 'node-llama-cpp';
import { serveContestant } from './serve-contestant.ts';

/** llama.cpp rounds values of its cache only where it attends in blocks. */
const ROUNDED_CACHE = {
  experimentalKvCacheKeyType: 'Q8_0',
  experimentalKvCacheValueType: 'Q8_0',
  flashAttention: true,
};

serveContestant(async ({ modelPath, threadCount, maxStreams, contextLength, cacheBits }) => {
  const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, maxThreads: threadCount });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({
    contextSize: contextLength,
    batchSize: 512,
    sequences: maxStreams,
    threads: threadCount,
    ...(cacheBits === 8 && ROUNDED_CACHE),
  });
  const sequences = Array.from({ length: maxStreams }, () => context.getSequence());
  return {
    version: '3.22.1',
    async *generate(prompt, outputLength, index) {
      const sequence = sequences[index];
      await sequence.clearHistory();
      let count = 0;
      for await (const token of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
        yield token;
        if (++count === outputLength) return;
      }
    },
  };
});
