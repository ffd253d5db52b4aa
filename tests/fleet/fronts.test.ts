// Two servers behind a router, or behind another server: requests pass unchanged, and one that is killed takes only its own streams with
// it. Routers from PyPI run where TEST_FLEET=required, servers with one database where TEST_POSTGRES_URL names PostgreSQL.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createPostgresDatabase, TEST_POSTGRES_URL } from '../../apps/server/test/databases.ts';
import { CHAT_PATH, type ChatClient, createChatClient, type Json, USER } from '../support/chat-client.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { readEvents } from '../support/sse.ts';
import { type Router, type RouterName, startRouter } from './start-router.ts';

const API_KEY = 'key-of-the-fleet';
const STREAM_COUNT = 16;
const PROJECT = 'acme/fleet';
const FRONTS: readonly RouterName[] =
  process.env.TEST_FLEET === 'required' ? ['ortler', 'vllm-router', 'envoy'] : ['ortler'];

describe.each(FRONTS)('two servers behind %s', name => {
  // A router has no data of its own, so the servers behind it must have one database; vllm-router drops Basic credentials.
  const hasData = name === 'ortler' || (name === 'envoy' && TEST_POSTGRES_URL !== undefined);
  let database: { readonly url: string; drop(): Promise<void> } | undefined;
  let servers: RunningServer[];
  let router: Router;
  let client: ChatClient;

  const send = (path: string, body?: object, url = router.url) =>
    fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...client.headers,
        ...(path.startsWith('/feedback') && {
          authorization: `Basic ${Buffer.from(`api:${API_KEY}`).toString('base64')}`,
        }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
  const addFeedback = (value: number) =>
    send('/feedback/create', {
      project_id: PROJECT,
      weave_ref: `weave:///${PROJECT}/call/1`,
      feedback_type: 'fleet',
      payload: { value },
    });
  const storedValues = async () => {
    const reply = await send('/feedback/query', { project_id: PROJECT, fields: ['payload'] });
    const { result } = (await reply.json()) as { result: { payload: { value: number } }[] };
    return new Set(result.map(({ payload }) => payload.value));
  };

  beforeAll(async () => {
    if (name === 'envoy' && hasData) database = await createPostgresDatabase();
    const env = { ORTLER_API_KEY: API_KEY, ...(database && { DATABASE_URL: database.url }) };
    // Each can take all streams at once, wherever a router sends them.
    const start = () => startServer({ env, arguments: ['--max-sequences', String(STREAM_COUNT)] });
    servers = await Promise.all([start(), start()]);
    const urls = servers.map(({ url }) => url);
    router = await startRouter(name, urls, API_KEY);
    client = createChatClient({ url: router.url, apiKey: API_KEY });
  });
  afterAll(async () => {
    await router?.dispose();
    await Promise.all((servers ?? []).map(server => server.dispose()));
    await database?.drop();
  });

  it('answer as one server does: body, stream, log probabilities, structured output', async () => {
    const direct = createChatClient({ url: servers[0]!.url, apiKey: API_KEY });
    const fields = { temperature: 0, max_tokens: 12, logprobs: true, top_logprobs: 2 };
    const [routed, own] = [await client.chat(fields), await direct.chat(fields)];
    expect(routed.choices).toEqual(own.choices);
    // A router may leave the charset out of the type.
    const reply = await send(CHAT_PATH, { ...fields, messages: USER, stream: true });
    expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    let text = '';
    for (const chunk of await readEvents(reply)) text += (chunk as Json).choices[0]?.delta.content ?? '';
    expect(text).toBe(own.choices[0].message.content);
    const chosen = await client.chat({ structured_outputs: { choice: ['yes', 'no'] } });
    expect(['yes', 'no']).toContain(chosen.choices[0].message.content);
  });

  it.runIf(hasData)('take feedback and trajectories, which each of them finds', async () => {
    expect((await addFeedback(-1)).status).toBe(200);
    const created = await send('/v1/preview/models', { name: 'fleet', base_model: 'ortler-demo' });
    const { id } = (await created.json()) as { id: string };
    const trajectory = {
      messages_and_choices: [...USER, { role: 'assistant', content: 'Paris' }],
      reward: 1,
    };
    const log = { split: 'train', trajectory_groups: [{ trajectories: [trajectory] }] };
    expect((await send(`/v1/preview/models/${id}/log`, log)).status).toBe(200);
    // Before its first checkpoint the base model answers for it, wherever that is.
    const answer = await client.chat({ model: 'fleet', max_tokens: 4 });
    expect(answer.model).toBe('ortler-demo');
    // Twice, because a router asks one server and then the other.
    for (let count = 0; count < 2; count++) {
      expect(await storedValues()).toContain(-1);
      const found = await send(`/v1/preview/models/${id}/trajectories/export`);
      expect((await found.text()).trim().split('\n')).toHaveLength(1);
    }
  });

  it('lose only the streams of a server that is killed, and no acknowledged write, and go on', async () => {
    const body = { stream: true, max_tokens: 400, ignore_eos: true };
    let begunCount = 0;
    const streams = Array.from({ length: STREAM_COUNT }, async (_, index) => {
      const messages = [{ role: 'user', content: `Question ${index}` }];
      const reply = await send(CHAT_PATH, { ...body, messages });
      let text = '';
      try {
        for await (const piece of reply.body!.pipeThrough(new TextDecoderStream())) {
          if (text === '') begunCount++;
          text += piece;
        }
      } catch {
        // A router cuts the connection.
        return `${text} cut`;
      }
      return text;
    });
    const acknowledged: number[] = [];
    let isWriting = hasData;
    const writer = (async () => {
      for (let value = 0; isWriting; value++)
        if ((await addFeedback(value).catch(() => undefined))?.status === 200) acknowledged.push(value);
    })();
    await vi.waitFor(() => expect(begunCount).toBe(STREAM_COUNT), 60_000);
    servers[1]!.child.kill('SIGKILL');
    const texts = await Promise.all(streams);
    const isWhole = (text: string) => text.endsWith('data: [DONE]\n\n') && !text.includes('"error"');
    const brokenTexts = texts.filter(text => !isWhole(text));
    expect(brokenTexts.length).toBeGreaterThan(0);
    expect(brokenTexts.length).toBeLessThan(STREAM_COUNT);
    if (name === 'ortler')
      for (const text of brokenTexts)
        expect(text).toMatch(/"code":"upstream_failed".*\n\ndata: \[DONE\]\n\n$/);
    // After the next check of health every request goes to the server that is left.
    await vi.waitFor(
      async () => {
        for (let count = 0; count < 6; count++) await client.chat({ max_tokens: 2 });
      },
      { timeout: 30_000, interval: 500 },
    );
    isWriting = false;
    await writer;
    if (!hasData) return;
    const stored = await storedValues();
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(acknowledged.filter(value => !stored.has(value))).toEqual([]);
  });
});
