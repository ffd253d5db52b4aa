// The clients that application frameworks bring, against the running server: Vercel's AI SDK through its
// OpenAI-compatible provider, and LangChain's ChatOpenAI. Both check replies by schemas of their own.

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  type AIMessageChunk,
  HumanMessage,
  SystemMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { APICallError, generateObject, generateText, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type RunningServer, startServer } from '../support/server.ts';

const QUESTION = 'What is the capital of France?';
const MODEL = 'ortler-demo';

let server: RunningServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.dispose());

describe('AI SDK', () => {
  const provider = (apiKey = server.apiKey) =>
    createOpenAICompatible({ name: 'ortler', baseURL: `${server.url}/v1`, apiKey, includeUsage: true });

  test('generates a text with its usage', async () => {
    const { text, finishReason, usage, response } = await generateText({
      model: provider()(MODEL),
      prompt: QUESTION,
      temperature: 0,
    });
    expect(text).toContain('Paris');
    expect(finishReason).toBe('stop');
    expect(usage.totalTokens).toBe(usage.inputTokens! + usage.outputTokens!);
    expect(response.modelId).toBe(MODEL);
  });

  test('streams the text it generates, with the same usage', async () => {
    const request = { model: provider()(MODEL), prompt: QUESTION, temperature: 0 };
    const whole = await generateText(request);
    const stream = streamText(request);
    // How many pieces it has is up to the reader: one who comes late gets them together.
    let text = '';
    for await (const piece of stream.textStream) text += piece;
    expect(text).toBe(whole.text);
    expect((await stream.usage).totalTokens).toBe(whole.usage.totalTokens);
    expect(await stream.finishReason).toBe('stop');
  });

  test('generates a text through the completion model', async () => {
    const request = {
      model: provider().completionModel(MODEL),
      prompt: QUESTION,
      temperature: 0,
      maxOutputTokens: 4,
    };
    const whole = await generateText(request);
    expect(whole.usage.outputTokens).toBeLessThanOrEqual(4);
    const stream = streamText(request);
    expect(await stream.text).toBe(whole.text);
  });

  test('generates an object of a zod schema', async () => {
    const schema = z.object({ city: z.enum(['Paris', 'Rome']), facts: z.array(z.enum(['a', 'b'])).max(3) });
    const model = createOpenAICompatible({
      name: 'ortler',
      baseURL: `${server.url}/v1`,
      apiKey: server.apiKey,
      supportsStructuredOutputs: true,
    })(MODEL);
    const { object, finishReason } = await generateObject({ model, schema, prompt: QUESTION, seed: 2 });
    expect(schema.parse(object)).toEqual(object);
    expect(finishReason).toBe('stop');
  });

  test('raises its own error with the status and our message', async () => {
    const wrongKey = generateText({ model: provider('wrong')(MODEL), prompt: QUESTION, maxRetries: 0 });
    const failure: unknown = await wrongKey.catch(error => error);
    expect(APICallError.isInstance(failure) && failure.statusCode).toBe(401);
    const wrongValue = generateText({
      model: provider()(MODEL),
      prompt: QUESTION,
      temperature: -1,
      maxRetries: 0,
    });
    await expect(wrongValue).rejects.toThrow('temperature');
  });
});

describe('LangChain ChatOpenAI', () => {
  const chat = (fields: object = {}) =>
    new ChatOpenAI({
      model: MODEL,
      apiKey: server.apiKey,
      configuration: { baseURL: `${server.url}/v1` },
      temperature: 0,
      maxRetries: 0,
      ...fields,
    });
  // Its type depends on the message's structure, which our compiler settings narrow to nothing.
  const usageOf = (message: AIMessageChunk) => message.usage_metadata as UsageMetadata | undefined;
  const messages = [new SystemMessage('Answer briefly.'), new HumanMessage(QUESTION)];

  test('invokes a chat with its usage', async () => {
    const reply = await chat().invoke(messages);
    expect(reply.text).toContain('Paris');
    const usage = usageOf(reply)!;
    expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens);
    expect(reply.response_metadata).toMatchObject({ finish_reason: 'stop' });
  });

  test('streams the text of the whole reply, with the same usage', async () => {
    const whole = await chat().invoke(messages);
    let text = '';
    let total = 0;
    for await (const chunk of await chat({ streamUsage: true }).stream(messages)) {
      text += chunk.text;
      total = usageOf(chunk)?.total_tokens ?? total;
    }
    expect(text).toBe(whole.text);
    expect(total).toBe(usageOf(whole)?.total_tokens);
  });

  test('raises the status of a refusal', async () => {
    await expect(chat({ model: 'nope' }).invoke(messages)).rejects.toMatchObject({ status: 404 });
  });
});
