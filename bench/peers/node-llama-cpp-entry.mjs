// node-llama-cpp as a contestant: one context with a sequence for each stream, its own batching.

import { getLlama } from 'node-llama-cpp';
import { serveContestant } from './serve-contestant.ts';

serveContestant(async ({ modelPath, threadCount, maxStreams, contextLength }) => {
  const llama = await getLlama({ gpu: false, build: 'never', progressLogs: false, maxThreads: threadCount });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({
    contextSize: contextLength,
    batchSize: 512,
    sequences: maxStreams,
    threads: threadCount,
  });
  const sequences = Array.from({ length: maxStreams }, () => context.getSequence());
  return {
    version: '3.22.1',
    async *generate(prompt, outputLength, index) {
      const sequence = sequences[index];
      await sequence.clearHistory();
      let count = 0;
      for await (const token of sequence.evaluate(prompt, { temperature: 0 })) {
        yield token;
        if (++count === outputLength) return;
      }
    },
  };
});
