// Prefilled replies over REST: the demo model in float32 goes on with an open last message exactly as transformers does with
// the prefix that the chat template makes of it (models/demo/evaluation/golden.json).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatClient, createChatClient, type Json } from '../support/chat-client.ts';
import { REPOSITORY, type RunningServer, startServer } from '../support/server.ts';

interface ContinuedCase {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly prompt_token_ids: readonly number[];
  readonly greedy_token_ids: readonly number[];
  readonly greedy_text: string;
}

const path = join(REPOSITORY, 'models/demo/evaluation/golden.json');
const { continued } = JSON.parse(readFileSync(path, 'utf8')) as { continued: readonly ContinuedCase[] };

let server: RunningServer;
let client: ChatClient;
beforeAll(async () => {
  server = await startServer({ arguments: ['--precision', 'f32'] });
  client = createChatClient(server);
});
afterAll(() => server?.dispose());

test.each(continued.map(one => [one.messages.at(-1)!.content, one] as const))(
  'goes on with %j',
  async (open, one) => {
    const request = {
      messages: one.messages,
      continue_final_message: true,
      add_generation_prompt: false,
      temperature: 0,
      max_completion_tokens: one.greedy_token_ids.length,
      return_token_ids: true,
    };
    const whole = await client.chat(request);
    expect(whole.prompt_token_ids).toEqual(one.prompt_token_ids);
    const [choice] = whole.choices;
    expect(choice.token_ids).toEqual(one.greedy_token_ids);
    expect(choice.message).toMatchObject({ role: one.messages.at(-1)!.role, content: one.greedy_text });

    const chunks = await client.stream({ ...request, echo: true });
    const text = chunks.flatMap((chunk: Json) => chunk.choices).map(({ delta }: Json) => delta.content ?? '');
    expect(text.join('')).toBe(open + one.greedy_text);
  },
);
