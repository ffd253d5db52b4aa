import { describe, expect, it } from 'vitest';
import { createAppRouter } from '../app-router.ts';
import type { KeyFacts, LoadSample, ModelFacts, ModelLoad } from '../ports/statistics-services.ts';
import { createFakeServices, TEST_API_KEY } from '../testing/index.ts';

const durations = { bounds: [], counts: [], count: 0, sum: 0 };
const loadOf = (id: string): ModelLoad => ({
  id,
  runningCount: 1,
  waitingCount: 0,
  cacheUsedShare: 0.5,
  cacheQueryTokenCount: 0,
  cacheHitTokenCount: 0,
  preemptionCount: 0,
  promptTokenCount: 0,
  generatedTokenCount: 0,
  firstToken: durations,
  tokenGap: durations,
});
const sampleOf = (...ids: string[]): LoadSample => ({
  atMs: 1,
  residentBytes: 1,
  routes: [],
  models: ids.map(loadOf),
});
const factsOf = (id: string): ModelFacts => ({
  id,
  kind: 'own',
  upstream: null,
  state: 'ready',
  detail: '',
  engine: null,
});

const keyOf = (id: string, team: string | null): KeyFacts => ({
  id,
  name: id,
  team,
  createdAt: null,
  limits: {},
});

function createCaller(token: string, ...samples: LoadSample[]) {
  const fake = createFakeServices();
  const services = {
    ...fake,
    credentials: {
      verifyBearer: (given: string) =>
        isRemoved ? Promise.resolve(null) : fake.credentials.verifyBearer(given),
    },
  };
  let isRemoved = false;
  const [model] = services.models.list();
  const own = model!.id;
  const router = createAppRouter({
    ...services,
    keys: { list: () => [keyOf('1', null), keyOf('2', 'a'), keyOf('3', 'b')] },
    statistics: {
      facts: () => ({
        version: '1',
        startedAtMs: 0,
        command: 'ortler',
        toolCalling: false,
        limits: [],
        models: [factsOf(own), factsOf('other/p/m:step1')],
      }),
      async *samples() {
        yield* samples;
      },
    },
  });
  const context = {
    credentials: { kind: 'bearer', token } as const,
    requestId: 'r',
    headers: {},
    signal: new AbortController().signal,
  };
  const removeKey = () => {
    isRemoved = true;
  };
  return { own, caller: router.createCaller(context), removeKey };
}

describe('server statistics', () => {
  it('show a caller the models that it has access to', async () => {
    const { own, caller } = createCaller(`${TEST_API_KEY} of a`);
    expect(await caller.server.facts()).toMatchObject({
      command: 'ortler',
      team: 'a',
      models: [{ id: own }],
    });
  });

  it('are one item for each sample, without the models of others', async () => {
    const { own } = createCaller(TEST_API_KEY);
    const { caller } = createCaller(`${TEST_API_KEY} of a`, sampleOf(own), sampleOf(own, 'other/p/m:step1'));
    const seen: string[][] = [];
    for await (const { models } of await caller.server.load()) seen.push(models.map(({ id }) => id));
    expect(seen).toEqual([[own], [own]]);
  });

  it('end when the key is removed', async () => {
    const { caller, removeKey } = createCaller(TEST_API_KEY, sampleOf('a'), sampleOf('b'));
    const samples = (await caller.server.load())[Symbol.asyncIterator]();
    expect((await samples.next()).value).toMatchObject({ models: [{ id: 'a' }] });
    removeKey();
    await expect(samples.next()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('show a key without a team all models', async () => {
    const { caller } = createCaller(TEST_API_KEY, sampleOf('checkpoints'));
    for await (const { models } of await caller.server.load())
      expect(models.map(({ id }) => id)).toEqual(['checkpoints']);
  });

  it("list the keys of the caller's team, and all keys to one without a team", async () => {
    const { caller } = createCaller(`${TEST_API_KEY} of a`);
    expect(await caller.server.keys()).toEqual({ ownId: 'key of a', keys: [keyOf('2', 'a')] });
    const { caller: operator } = createCaller(TEST_API_KEY);
    expect((await operator.server.keys()).keys).toHaveLength(3);
  });

  it('need a key', async () => {
    const { caller } = createCaller('wrong');
    await expect(caller.server.keys()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(caller.server.facts()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(caller.server.load()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });
});
