import { createOrtlerClient } from '@ortler/api/client';
import { createFakeServices, TEST_API_KEY, teamApiKey } from '@ortler/api/testing';
import { afterEach, expect, it } from 'vitest';
import { AUTHORIZATION, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
afterEach(() => test.app.close());
const PATH = '/v1/organization/usage/completions';

it('counts chats with the project of the header, and refuses one that is too long', async () => {
  const services = createFakeServices();
  test = await openTestApp(services);
  const { usage } = (await test.post({ messages: MESSAGES }, { 'openai-project': 'web' })).json();
  const ofTeam = {
    authorization: `Bearer ${teamApiKey('acme')}`,
    'vendor-project': 'acme/search',
    'openai-project': 'web',
  };
  await test.post({ messages: MESSAGES, stream: true }, ofTeam);
  expect(services.usages).toMatchObject([
    {
      keyId: 'key-1',
      team: null,
      project: 'web',
      requestCount: 1,
      inputTokenCount: usage.prompt_tokens,
      outputTokenCount: usage.completion_tokens,
    },
    { team: 'acme', project: 'acme/search', requestCount: 1 },
  ]);
  const refused = await test.post({ messages: MESSAGES }, { 'openai-project': 'a'.repeat(257) });
  expect([refused.statusCode, refused.json().error.message]).toEqual([
    400,
    expect.stringContaining('OpenAI-Project'),
  ]);
});

it('counts a completion of several prompts as one request', async () => {
  const services = createFakeServices();
  test = await openTestApp(services);
  await test.app.inject({
    method: 'POST',
    url: '/v1/completions',
    headers: { authorization: AUTHORIZATION },
    payload: { prompt: ['a', 'b', 'c'] },
  });
  expect(services.usages.map(({ requestCount }) => requestCount).toSorted()).toEqual([0, 0, 1]);
});

it('reports over REST with lists in the forms of OpenAI and of generated clients, and over tRPC the same', async () => {
  test = await openTestApp();
  const asked: unknown[] = [];
  const services = createFakeServices();
  await test.app.close();
  test = await openTestApp({
    ...services,
    usage: {
      record: async () => undefined,
      list: async query => {
        asked.push(query);
        return [];
      },
    },
  });
  const start = Math.floor(services.now() / 1_000) - 86_400;
  const get = (query: string) =>
    test.app.inject({ url: `${PATH}?${query}`, headers: { authorization: AUTHORIZATION } });
  const first = await get(`start_time=${start}&group_by=model,api_key_id`);
  expect(first.json()).toMatchObject({ object: 'page', has_more: false, next_page: null });
  await get(`start_time=${start}&group_by[]=model&group_by[]=api_key_id`);
  await get(`start_time=${start}&group_by=model&group_by=api_key_id`);
  const client = createOrtlerClient({ url: await test.listen(), apiKey: TEST_API_KEY });
  const overTrpc = await client.usage.completions.query({
    start_time: start,
    group_by: ['model', 'api_key_id'],
  });
  expect(overTrpc).toEqual(first.json());
  expect(asked).toHaveLength(4);
  for (const query of asked) expect(query).toEqual(asked[0]);
  expect(asked[0]).toMatchObject({ groups: ['model', 'api_key_id'] });
  expect((await get('')).statusCode).toBe(400);
  expect((await get(`start_time=${start}&bucket_width=1h`)).statusCode).toBe(400);
  for (const filter of ['api_key_ids', 'team_ids', 'project_ids', 'models'])
    expect((await get(`start_time=${start}&${filter}=a,%00`)).statusCode, filter).toBe(400);
});
