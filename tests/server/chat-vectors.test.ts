// The list of behaviours of a chat completion, one test each, over REST on the demo model. None depends on weights.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatCompletionRequest } from '@ortler/schemas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChatClient } from '../support/chat-client.ts';
import { REPOSITORY, type RunningServer, startServer } from '../support/server.ts';
import { basics } from './chat-vectors/basics.ts';
import { errors } from './chat-vectors/errors.ts';
import { limits } from './chat-vectors/limits.ts';
import { logprobs } from './chat-vectors/logprobs.ts';
import { prompts } from './chat-vectors/prompts.ts';
import { stopping } from './chat-vectors/stopping.ts';
import { streaming } from './chat-vectors/streaming.ts';
import { structured } from './chat-vectors/structured.ts';
import type { VectorContext } from './chat-vectors/vector.ts';

const VECTORS = [basics, limits, stopping, logprobs, prompts, structured, streaming, errors].flat();
const LIST_LENGTH = 95;

let server: RunningServer;
let context: VectorContext;
beforeAll(async () => {
  server = await startServer();
  const client = createChatClient(server);
  const tokenize = async (prompt: string) => {
    const { body } = await client.post('/tokenize', { prompt, add_special_tokens: false });
    return body as { tokens: number[]; max_model_len: number };
  };
  const one = async (text: string) => {
    const { tokens } = await tokenize(text);
    expect(tokens, `"${text}" must be one token`).toHaveLength(1);
    return tokens[0]!;
  };
  const config = readFileSync(join(REPOSITORY, 'models/demo/config.json'), 'utf8');
  context = {
    client,
    x: await one(' a'),
    xText: ' a',
    y: await one(' the'),
    eos: await one('<|im_end|>'),
    vocabSize: (JSON.parse(config) as { vocab_size: number }).vocab_size,
    contextLength: (await tokenize('x')).max_model_len,
  };
});
afterAll(() => server?.dispose());

it.each(VECTORS)('$number: $rule', ({ run }) => run(context));

describe('the list', () => {
  it('is whole: each number is shown once', () => {
    const numbers = VECTORS.map(({ number }) => number).filter(number => typeof number === 'number');
    expect(numbers.sort((a, b) => a - b)).toEqual(
      Array.from({ length: LIST_LENGTH }, (_, index) => index + 1),
    );
  });

  it('shows the effect or the refusal of every field of the request', () => {
    const shown = new Set(VECTORS.flatMap(({ fields }) => fields));
    expect([...shown].sort()).toEqual(Object.keys(chatCompletionRequest.shape).sort());
  });
});
