// Two servers behind a router: requests pass unchanged, and one that is killed takes only its own streams with it. Runs where
// TEST_FLEET=required, because it needs routers from PyPI.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_PATH, type ChatClient, createChatClient, type Json, USER } from '../support/chat-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { readEvents } from '../support/sse.ts';
import { type Router, startRouter } from './start-router.ts';

const API_KEY = 'key-of-the-fleet';
const STREAM_COUNT = 16;

describe.runIf(process.env.TEST_FLEET === 'required').each(['vllm-router', 'envoy'] as const)(
  'two servers behind %s',
  name => {
    let servers: RunningServer[];
    let router: Router;
    let client: ChatClient;

    const post = (body: object) =>
      fetch(`${router.url}${CHAT_PATH}`, {
        method: 'POST',
        headers: client.headers,
        body: JSON.stringify(body),
      });

    beforeAll(async () => {
      const env = { ORTLER_API_KEY: API_KEY };
      servers = await Promise.all([startServer({ env }), startServer({ env })]);
      router = await startRouter(
        name,
        servers.map(({ url }) => url),
      );
      client = createChatClient({ url: router.url, apiKey: API_KEY });
    });
    afterAll(async () => {
      await router?.dispose();
      await Promise.all((servers ?? []).map(server => server.dispose()));
    });

    it('answer as one server does: body, stream, log probabilities, structured output', async () => {
      const direct = createChatClient({ url: servers[0]!.url, apiKey: API_KEY });
      const fields = { temperature: 0, max_tokens: 12, logprobs: true, top_logprobs: 2 };
      const [routed, own] = [await client.chat(fields), await direct.chat(fields)];
      expect(routed.choices).toEqual(own.choices);
      // A router may leave the charset out of the type.
      const reply = await post({ ...fields, messages: USER, stream: true });
      expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
      let text = '';
      for (const chunk of await readEvents(reply)) text += (chunk as Json).choices[0]?.delta.content ?? '';
      expect(text).toBe(own.choices[0].message.content);
      const chosen = await client.chat({ structured_outputs: { choice: ['yes', 'no'] } });
      expect(['yes', 'no']).toContain(chosen.choices[0].message.content);
    });

    it('lose only the streams of a server that is killed, and go on', async () => {
      const body = { messages: USER, stream: true, max_tokens: 600, ignore_eos: true };
      const streams = Array.from({ length: STREAM_COUNT }, async () => {
        const reply = await post(body);
        return reply.text().then(
          text => text.includes('data: [DONE]') && !text.includes('"error"'),
          () => false,
        );
      });
      await new Promise(resolve => setTimeout(resolve, 300));
      servers[1]!.child.kill('SIGKILL');
      const wholeCount = (await Promise.all(streams)).filter(Boolean).length;
      expect(wholeCount).toBeGreaterThanOrEqual(STREAM_COUNT / 2 - 1);
      expect(wholeCount).toBeLessThan(STREAM_COUNT);
      // After the next check of health every request goes to the server that is left.
      await new Promise(resolve => setTimeout(resolve, 3_000));
      for (let count = 0; count < 10; count++) await client.chat({ max_tokens: 4 });
    });
  },
);
