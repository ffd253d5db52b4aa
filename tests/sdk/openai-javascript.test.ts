// The openai SDK for JavaScript against the running server: what its users call must work unchanged.

import OpenAI, { AuthenticationError, BadRequestError, NotFoundError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
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

  test('retrieves one model, and raises NotFoundError for another', async () => {
    const { data } = await client.models.list();
    expect(await client.models.retrieve('ortler-demo')).toEqual(
      data.find(model => model.id === 'ortler-demo'),
    );
    await expect(client.models.retrieve('org/nope')).rejects.toBeInstanceOf(NotFoundError);
  });

  test('stores responses, lists their items in pages, and counts prompt tokens', async () => {
    const asked = { model: 'ortler-demo', input: 'What is the capital of France?', max_output_tokens: 8 };
    const first = await client.responses.create(asked);
    const second = await client.responses.create({ ...asked, input: 'Why?', previous_response_id: first.id });
    const texts: string[] = [];
    for await (const item of client.responses.inputItems.list(second.id, { limit: 2, order: 'asc' }))
      texts.push(item.type === 'message' && 'text' in item.content[0]! ? item.content[0].text : item.type);
    expect(texts).toEqual([asked.input, first.output_text, 'Why?']);
    const { input_tokens: count } = await client.responses.inputTokens.count({
      model: 'ortler-demo',
      input: 'Why?',
      previous_response_id: first.id,
    });
    expect(count).toBe(second.usage?.input_tokens);
    expect((await client.responses.retrieve(second.id)).output).toEqual(second.output);
    await expect(client.responses.retrieve(second.id, { stream: true })).rejects.toBeInstanceOf(
      BadRequestError,
    );
    await expect(client.responses.cancel(second.id)).rejects.toBeInstanceOf(BadRequestError);
    await expect(client.responses.create({ ...asked, background: true })).rejects.toThrow('background');
    await client.responses.delete(first.id);
    await expect(client.responses.inputItems.list(first.id)).rejects.toBeInstanceOf(NotFoundError);
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

  test('fills the stream helper with every choice of n', async () => {
    const request = { model: 'ortler-demo', messages: QUESTION, seed: 7, n: 3, max_completion_tokens: 12 };
    const plain = await client.chat.completions.create(request);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    const texts = (completion: { choices: readonly { message: { content: string | null } }[] }) =>
      completion.choices.map(({ message }) => message.content);
    expect(texts(streamed)).toEqual(texts(plain));
    expect(texts(plain)).toHaveLength(3);
  });

  describe('completions', () => {
    const model = 'ortler-demo';

    test('continue a text, plain and streamed', async () => {
      const request = { model, prompt: 'The capital of France is', seed: 7, max_tokens: 8 };
      const plain = await client.completions.create(request);
      expect(plain).toMatchObject({ object: 'text_completion', choices: [{ index: 0, logprobs: null }] });
      expect(plain.usage?.completion_tokens).toBeLessThanOrEqual(8);
      const stream = await client.completions.create({ ...request, stream: true });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
      expect(text).toBe(plain.choices[0]?.text);
    });

    test('answer several prompts n times, in the order of the prompts', async () => {
      const prompt = ['The capital of France is', 'Two and two'];
      const request = { model, n: 2, seed: 3, max_tokens: 4 };
      const both = await client.completions.create({ ...request, prompt });
      const alone = await Promise.all(
        prompt.map(text => client.completions.create({ ...request, prompt: text })),
      );
      const texts = (body: OpenAI.Completion) => body.choices.map(({ text }) => text);
      expect(texts(both)).toEqual(alone.flatMap(texts));
      expect(both.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
      const promptTokens = alone.map(({ usage }) => usage!.prompt_tokens);
      expect(both.usage?.prompt_tokens).toBe(promptTokens[0]! + promptTokens[1]!);
    });

    test('raise BadRequestError for suffix', async () => {
      const failure = client.completions.create({ model, prompt: 'a', suffix: 'b' });
      await expect(failure).rejects.toMatchObject({ status: 400, param: 'suffix' });
    });
  });

  test('gives log probabilities and several choices, whole and through the stream helper', async () => {
    const body = {
      model: 'ortler-demo',
      messages: QUESTION,
      temperature: 1,
      seed: 3,
      n: 2,
      max_completion_tokens: 5,
      logprobs: true,
      top_logprobs: 2,
    };
    const plain = await client.chat.completions.create(body);
    const final = await client.chat.completions.stream(body).finalChatCompletion();
    expect(plain.choices).toHaveLength(2);
    for (const [index, choice] of plain.choices.entries()) {
      const tokens = choice.logprobs!.content!.map(({ token }) => token);
      expect(choice.logprobs!.content![0]!.top_logprobs).toHaveLength(2);
      expect(final.choices[index]!.message.content).toBe(choice.message.content);
      expect(final.choices[index]!.logprobs!.content!.map(({ token }) => token)).toEqual(tokens);
    }
  });

  test('parses an answer into the type of a zod schema, whole and streamed', async () => {
    const city = z.object({
      name: z.enum(['Paris', 'Rome']),
      isCapital: z.boolean(),
      rank: z.int().min(1).max(9),
    });
    const body = {
      model: 'ortler-demo',
      messages: QUESTION,
      seed: 5,
      temperature: 1.5,
      response_format: zodResponseFormat(city, 'city'),
    };
    const completion = await client.chat.completions.parse(body);
    const { parsed } = completion.choices[0]!.message;
    expect(city.parse(parsed)).toEqual(parsed);
    const streamed = await client.chat.completions.stream(body).finalChatCompletion();
    expect(streamed.choices[0]!.message.parsed).toEqual(parsed);
  });

  test('raises BadRequestError for a schema that cannot be kept', async () => {
    const schema = { type: 'array', uniqueItems: true };
    const parse = client.chat.completions.parse({
      model: 'ortler-demo',
      messages: QUESTION,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema, strict: true } },
    });
    await expect(parse).rejects.toBeInstanceOf(BadRequestError);
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
