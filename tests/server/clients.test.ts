// The public SDK and our own client against a running server with a real engine.

import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AppRouter } from '@ortler/api';
import { createOrtlerClient, int64Transformer } from '@ortler/api/client';
import { createTRPCClient, httpLink } from '@trpc/client';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

let server: RunningServer;
let openai: OpenAI;
beforeAll(async () => {
  server = await startTinyServer();
  openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
});
afterAll(() => server?.dispose());

const messages = [{ role: 'user' as const, content: 'Hello!' }];

describe('the openai SDK', () => {
  it('lists the models', async () => {
    const { data } = await openai.models.list();
    expect(data.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('streams the text of the plain answer', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const request = { model: seed % 2 === 0 ? 'a' : 'b', messages, seed, max_tokens: 24 };
      const plain = await openai.chat.completions.create(request);
      const stream = await openai.chat.completions.create({ ...request, stream: true });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
      expect(text).toBe(plain.choices[0]?.message.content);
      expect(plain.usage?.completion_tokens).toBeLessThanOrEqual(24);
    }
  });

  it('assembles a stream with its helper', async () => {
    const request = { model: 'a', messages, seed: 3, max_tokens: 8, n: 2 };
    const plain = await openai.chat.completions.create(request);
    const final = await openai.chat.completions.stream(request).finalChatCompletion();
    expect(final.choices.map(({ message }) => message.content)).toEqual(
      plain.choices.map(({ message }) => message.content),
    );
  });

  it('gets its own error classes', async () => {
    const stranger = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'wrong', maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    const create = (fields: object) => openai.chat.completions.create({ model: 'a', messages, ...fields });
    await expect(create({ model: 'nope' })).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(create({ temperature: -1 })).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    const schema = { enum: [] };
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    await expect(create({ response_format })).rejects.toMatchObject({
      param: 'response_format',
      status: 400,
    });
  });
});

it('answers the same over tRPC for the same seed', async () => {
  const client = createOrtlerClient({ url: server.url, apiKey: server.apiKey });
  const request = { model: 'a', messages, seed: 9223372036854775807n, max_tokens: 24 };
  const reply = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, seed: 0 }).replace('"seed":0', `"seed":${request.seed}`),
  });
  const rest = (await reply.json()) as OpenAI.ChatCompletion;
  const completion = await client.chat.complete.mutate(request);
  let text = '';
  for await (const chunk of await client.chat.stream.mutate(request))
    text += chunk.choices[0]?.delta.content ?? '';
  expect(completion.choices[0]?.message.content).toBe(rest.choices[0]?.message.content);
  expect(text).toBe(rest.choices[0]?.message.content);
});

it.each<[object, string, (number | string)?]>([
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ max_completion_tokens: 100_000 }, 'max_completion_tokens'],
  [{ min_tokens: 5, max_tokens: 3 }, 'min_tokens'],
  [{ stop: [''] }, 'stop'],
  [{ stop_token_ids: [100_000] }, 'stop_token_ids'],
  [{ top_p: 0 }, 'top_p'],
  [{ temperature: 0, n: 2 }, 'n'],
  [{ chat_template: '{{ broken' }, 'chat_template'],
  [{ chat_template: '{{ raise_exception("no") }}' }, 'chat_template'],
  [{ messages: [{ role: 'user', content: 'x'.repeat(5_000) }] }, 'messages', 'context_length_exceeded'],
])('refuses %j with a 400 that names the field, streamed or not', async (fields, param, code = 400) => {
  for (const stream of [false, true]) {
    const reply = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages, ...fields, stream }),
    });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({ error: { param, type: 'BadRequestError', code } });
  }
});

it('renders with the template of the request', async () => {
  const reply = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      messages,
      chat_template: '{{ messages[0].content }}',
      max_tokens: 1,
      return_token_ids: true,
    }),
  });
  const body = (await reply.json()) as { prompt_token_ids: number[]; usage: { prompt_tokens: number } };
  expect(reply.status).toBe(200);
  expect(body.usage.prompt_tokens).toBe(body.prompt_token_ids.length);
  expect(body.prompt_token_ids.length).toBeLessThanOrEqual('Hello!'.length);
});

describe('behind a proxy that puts a path before the server', () => {
  const proxy = createServer((request, response) => {
    const path = request.url!.replace(/^\/llm(?=\/)/, '');
    const { method, headers } = request;
    const passed = httpRequest(new URL(path, server.url), { method, headers }, answer => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    request.pipe(passed);
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/llm`;
  });
  afterAll(() => proxy.close());

  it.each(['', '/'])('our client finds the procedures, with "%s" at the end of the address', async end => {
    const ortler = createOrtlerClient({ url: url + end, apiKey: server.apiKey });
    expect((await ortler.models.list.query()).data.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('the documentation finds its document', async () => {
    const page = await fetch(`${url}/docs`);
    expect(page.url).toBe(`${url}/docs/`);
    const [, document] = /"url": ?"([^"]+)"/.exec(await page.text())!;
    expect((await fetch(new URL(document!, page.url))).status).toBe(200);
  });
});

it('a client of tRPC itself works with the transformer', async () => {
  const trpc = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${server.url}/trpc`,
        transformer: int64Transformer,
        headers: { authorization: `Bearer ${server.apiKey}` },
      }),
    ],
  });
  const { choices } = await trpc.chat.complete.mutate({
    model: 'a',
    messages,
    seed: 2n ** 62n,
    max_tokens: 4,
  });
  expect(choices).toHaveLength(1);
});
