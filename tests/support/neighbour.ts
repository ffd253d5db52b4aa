// Another team beside one that is attacked, or that has a fault: its chats, /v1/models and /health must be answered.

import { expect } from 'vitest';

export interface Neighbour {
  /** One call of each route. Throws: unless every one is 200. */
  callAll(): Promise<void>;
  /** Calls all routes over and over, at least once, until `work` has ended. */
  beside<Result>(work: Promise<Result>): Promise<Result>;
}

/** @param apiKey Key of the other team. */
export function createNeighbour(url: string, apiKey: string): Neighbour {
  const call = async (path: string, body?: object): Promise<number> => {
    const reply = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  const messages = [{ role: 'user', content: 'Count.' }];
  const callAll = async () => {
    for (const [path, status] of [
      ['/health', call('/health')],
      ['/v1/models', call('/v1/models')],
      ['chat', call('/v1/chat/completions', { messages, max_tokens: 2 })],
      ['template', call('/tokenize', { messages, chat_template: '{{ messages[0].content }}!' })],
    ] as const)
      expect([path, await status]).toEqual([path, 200]);
  };
  return {
    callAll,
    async beside(work) {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      work.then(end, end);
      do await callAll();
      while (!isOver);
      return work;
    },
  };
}
