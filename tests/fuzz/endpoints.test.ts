// Some requests of the fuzz target in every run; main.ts sends as many as one likes.

import { runs } from 'test-runs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';
import { fuzzEndpoints } from './endpoints.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startTinyServer({ arguments: ['--context-length', '128'] });
});
afterAll(() => server?.dispose());

it('every endpoint answers hostile inputs in JSON, and never with a 5xx', async () => {
  const { url, apiKey } = server;
  const statuses = new Set<number>();
  const onProgress = (_done: number, seen: ReadonlyMap<number, number>) => {
    for (const status of seen.keys()) statuses.add(status);
  };
  const count = runs({ daily: 600, full: 3_000 });
  expect(await fuzzEndpoints({ url, apiKey, count, seed: 1, onProgress })).toEqual([]);
  for (const status of [200, 400, 404, 422]) expect(statuses).toContain(status);
  expect((await fetch(`${url}/health`)).status).toBe(200);
}, 600_000);
