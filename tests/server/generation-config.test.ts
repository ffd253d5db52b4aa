// What a request leaves open, with and without the advice of the demo model's generation_config.json.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatClient, createChatClient, type Json } from '../support/chat-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';

const ADVICE = { temperature: 0.1, top_p: 0.95, top_k: 20 };
const NEUTRAL = { temperature: 1, top_p: 1, top_k: 0 };
const SETTINGS = ['on', 'off'] as const;

let servers: readonly RunningServer[] = [];
const clients: ChatClient[] = [];
beforeAll(async () => {
  servers = await Promise.all(
    SETTINGS.map(setting =>
      startServer({ arguments: ['--generation-config', setting, '--precision', 'f32'] }),
    ),
  );
  clients.push(...servers.map(createChatClient));
}, 120_000);
afterAll(() => Promise.all(servers.map(server => server.dispose())));

async function answers(client: ChatClient, fields: object): Promise<readonly string[]> {
  const { choices } = await client.chat({ n: 8, seed: 3, max_tokens: 24, ignore_eos: true, ...fields });
  return choices.map(({ message }: Json) => message.content);
}

test('is what the model advises, or with the setting off neutral', async () => {
  const [advised, neutral] = clients as [ChatClient, ChatClient];
  const expected = { advice: await answers(advised, ADVICE), neutral: await answers(advised, NEUTRAL) };
  expect(expected.advice).not.toEqual(expected.neutral);
  expect(await answers(advised, {})).toEqual(expected.advice);
  expect(await answers(neutral, {})).toEqual(expected.neutral);
  expect(await answers(neutral, ADVICE)).toEqual(expected.advice);
});

test('does not change where an answer ends', async () => {
  const bodies = clients.map(client => client.chat({ temperature: 0 }));
  const [first, second] = await Promise.all(bodies);
  expect(first.choices).toEqual(second.choices);
  expect(first.choices[0].finish_reason).toBe('stop');
});
