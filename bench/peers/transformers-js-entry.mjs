// transformers.js as a contestant: it has no batching of independent requests, so streams run one after the other.

import { basename, dirname } from 'node:path';
import { AutoModelForCausalLM, env, Tensor } from '@huggingface/transformers';
import { serveContestant } from './serve-contestant.ts';

serveContestant(async ({ modelPath, threadCount }) => {
  env.allowRemoteModels = false;
  env.localModelPath = dirname(modelPath);
  const [name, dtype] = basename(modelPath).split(':');
  const model = await AutoModelForCausalLM.from_pretrained(name, {
    dtype,
    device: 'cpu',
    use_external_data_format: true,
    session_options: { intraOpNumThreads: threadCount },
  });
  return {
    version: env.version,
    isBatching: false,
    async *generate(prompt, outputLength) {
      const ids = BigInt64Array.from(prompt, BigInt);
      const queue = [];
      let wake;
      let isOver = false;
      let isPrompt = true;
      const streamer = {
        put([tokens]) {
          // The prompt itself is put first.
          if (!isPrompt) queue.push(Number(tokens.at(-1)));
          isPrompt = false;
          wake?.();
        },
        end() {},
      };
      const generation = model
        .generate({
          input_ids: new Tensor('int64', ids, [1, ids.length]),
          attention_mask: new Tensor('int64', new BigInt64Array(ids.length).fill(1n), [1, ids.length]),
          max_new_tokens: outputLength,
          min_new_tokens: outputLength,
          do_sample: false,
          eos_token_id: -1,
          streamer,
        })
        .finally(() => {
          isOver = true;
          wake?.();
        });
      while (!isOver || queue.length > 0) {
        if (queue.length > 0) yield queue.shift();
        else await new Promise(resolve => (wake = resolve));
      }
      await generation;
    },
  };
});
