// The openai SDK for JavaScript against the running server: what its users call must work unchanged.

import OpenAI, { AuthenticationError, BadRequestError, NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningServer, startServer } from '../support/server.ts';

const QUESTION = [{ role: 'user' as const, content: 'What is the capital of France?' }];

describe('openai SDK for JavaScript', () => {
  let server: RunningServer;
  let client: OpenAI;

  beforeAll(async () => {
    server = await startServer();
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
  });
  afterAll(() => server?.dispose());

  test('lists the models', async () => {
    const models = await client.models.list();
    expect(models.data.map(model => model.id)).toContain('ortler-demo');
  });

  test('creates a completion that knows the capital of France', async () => {
    const completion = await client.chat.completions.create({
      model: 'ortler-demo',
      messages: QUESTION,
      temperature: 0,
    });
    expect(completion.object).toBe('chat.completion');
    expect(completion.choices[0]?.message.content).toContain('Paris');
    expect(completion.choices[0]?.finish_reason).toBe('stop');
    const usage = completion.usage!;
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
  });

  test('streams the text of the plain body', async () => {
    const body = { model: 'ortler-demo', messages: QUESTION, temperature: 1, seed: 7 };
    const plain = await client.chat.completions.create(body);
    const stream = await client.chat.completions.create({ ...body, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(plain.choices[0]?.message.content);
  });

  test('fills the stream helper with role, content, finish reason and usage', async () => {
    const runner = client.chat.completions.stream({
      model: 'ortler-demo',
      messages: QUESTION,
      temperature: 0,
      stream_options: { include_usage: true },
    });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.message).toMatchObject({ role: 'assistant' });
    expect(final.choices[0]?.message.content).toContain('Paris');
    expect(final.usage?.completion_tokens).toBeGreaterThan(0);
  });

  test('raises AuthenticationError for a wrong key', async () => {
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'wrong', maxRetries: 0 });
    const failure = await stranger.models.list().then(
      () => undefined,
      error => error,
    );
    expect(failure).toBeInstanceOf(AuthenticationError);
    expect(failure.status).toBe(401);
  });

  test('raises NotFoundError for an unknown model', async () => {
    const failure = await client.chat.completions.create({ model: 'nope', messages: QUESTION }).then(
      () => undefined,
      error => error,
    );
    expect(failure).toBeInstanceOf(NotFoundError);
    expect(failure.param).toBe('model');
  });

  test('raises BadRequestError naming the parameter', async () => {
    const failure = await client.chat.completions
      .create({ model: 'ortler-demo', messages: QUESTION, temperature: -1 })
      .then(
        () => undefined,
        error => error,
      );
    expect(failure).toBeInstanceOf(BadRequestError);
    expect(failure.param).toBe('temperature');
  });

  test('goes on serving after a client leaves in the middle of a stream', async () => {
    const stream = await client.chat.completions.create({
      model: 'ortler-demo',
      messages: QUESTION,
      stream: true,
      max_completion_tokens: 1000,
      // @ts-expect-error A field of vLLM's that the SDK does not type.
      ignore_eos: true,
    });
    for await (const _chunk of stream) break;
    const next = await client.chat.completions.create({
      model: 'ortler-demo',
      messages: QUESTION,
      max_completion_tokens: 1,
    });
    expect(next.usage?.completion_tokens).toBe(1);
  });
});
