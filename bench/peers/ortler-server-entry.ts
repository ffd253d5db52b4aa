// Our server as a contestant, over HTTP as its clients use it: started as its operators start it.

import { childrenOf } from '../process-usage.ts';
import { API_KEY, startServer } from '../start-server.ts';
import type { ContestantOptions } from './contestant.ts';
import { postForEvents } from './event-stream.ts';
import { serveContestant } from './serve-contestant.ts';

/** Fields of a chunk of /v1/completions. */
interface Chunk {
  readonly choices: readonly { readonly token_ids: readonly number[] }[];
}

serveContestant(async ({ modelPath, threadCount, maxStreams, contextLength, ...own }: ContestantOptions) => {
  const flags = {
    models: `bench=${modelPath}`,
    threads: threadCount,
    'max-sequences': maxStreams,
    'context-length': contextLength,
    speculation: own.speculativeDecoding ?? 'auto',
  };
  const { url, pid } = await startServer({ flags });
  const { version } = (await (await fetch(`${url}/version`)).json()) as { version: string };
  return {
    version,
    pids: [pid, ...childrenOf(pid)],
    async *generate(prompt: readonly number[], outputLength: number): AsyncGenerator<number> {
      const body = {
        prompt,
        temperature: 0,
        max_tokens: outputLength,
        ignore_eos: true,
        return_token_ids: true,
        stream: true,
      };
      const events = postForEvents(`${url}/v1/completions`, body, { authorization: `Bearer ${API_KEY}` });
      for await (const text of events) {
        const { choices } = JSON.parse(text) as Chunk;
        for (const { token_ids: tokenIds } of choices) yield* tokenIds;
      }
    },
  };
});
