// A few bodies of the fuzz target in every run; main.ts sends as many as one likes.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';
import { fuzzChatBodies } from './chat-bodies.ts';

let server: RunningServer;
beforeAll(async () => {
  server = await startTinyServer({ arguments: ['--context-length', '128'] });
});
afterAll(() => server?.dispose());

it('hostile bodies are answered in time, never with a 5xx, and refusals name their field', async () => {
  const { url, apiKey } = server;
  const statuses = new Set<number>();
  const onProgress = (_done: number, seen: ReadonlyMap<number, number>) => {
    for (const status of seen.keys()) statuses.add(status);
  };
  expect(await fuzzChatBodies({ url, apiKey, count: 200, seed: 1, onProgress })).toBeNull();
  expect(statuses).toContain(200);
  expect(statuses).toContain(400);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});
