// Usage and rate limits of the real server: what a client has received whole is counted, also after a kill; limits of a key made on the
// command line hold; a slow query of one team delays no other team.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ORTLER, type RunningServer } from '../support/server.ts';
import { startTinyServer } from '../support/tiny-server.ts';

let server: RunningServer;
let acme: string;
let beta: string;
let limited: string;

async function createKey(...args: readonly string[]): Promise<string> {
  const all = [...ORTLER, 'keys', 'create', ...args, '--data-dir', join(server.folder, 'data')];
  const { stdout } = await promisify(execFile)(process.execPath, all);
  return stdout.trim();
}

function call(apiKey: string, path: string, body?: object, init: RequestInit = {}): Promise<Response> {
  return fetch(server.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: path.startsWith('/feedback')
        ? `Basic ${Buffer.from(`api:${apiKey}`).toString('base64')}`
        : `Bearer ${apiKey}`,
      'content-type': 'application/json',
    },
    body: body === undefined ? null : JSON.stringify(body),
    ...init,
  });
}

const chat = { messages: [{ role: 'user', content: 'Count.' }], max_tokens: 4 };

beforeAll(async () => {
  server = await startTinyServer();
  acme = await createKey('--team', 'acme');
  beta = await createKey('--team', 'beta');
  limited = await createKey('--team', 'gamma', '--requests-per-minute', '2');
  for (const key of [acme, beta])
    await vi.waitFor(async () => expect((await call(key, '/v1/models')).status).toBe(200), 20_000);
}, 120_000);
afterAll(() => server?.dispose());

test('usage of whole answers survives a kill, exactly', async () => {
  const used = { requests: 0, input: 0, output: 0 };
  const stop = new AbortController();
  // Eight clients at once; each counts only what it has received whole.
  const clients = Array.from({ length: 8 }, async () => {
    while (!stop.signal.aborted) {
      try {
        const reply = await call(acme, '/v1/chat/completions', chat, { signal: stop.signal });
        const { usage } = (await reply.json()) as {
          usage: { prompt_tokens: number; completion_tokens: number };
        };
        used.requests += 1;
        used.input += usage.prompt_tokens;
        used.output += usage.completion_tokens;
      } catch {
        return;
      }
    }
  });
  await expect.poll(() => used.requests, { timeout: 60_000 }).toBeGreaterThan(20);
  server.child.kill('SIGKILL');
  await server.exited;
  stop.abort();
  await Promise.all(clients);

  server = await startTinyServer({ folder: server.folder });
  const start = Math.floor(Date.now() / 1_000) - 86_400;
  const path = `/v1/organization/usage/completions?start_time=${start}&group_by=team,model`;
  const reply = await call(acme, path);
  const { data } = (await reply.json()) as { data: { results: Record<string, number | string>[] }[] };
  const results = data.flatMap(bucket => bucket.results);
  const sum = (name: string) => results.reduce((total, result) => total + Number(result[name]), 0);
  expect(results.every(({ team, model }) => team === 'acme' && model === 'a')).toBe(true);
  // Answers whose last bytes were on their way are counted, and their clients could not know.
  expect(sum('num_model_requests')).toBeGreaterThanOrEqual(used.requests);
  expect(sum('num_model_requests')).toBeLessThanOrEqual(used.requests + 8);
  expect(sum('input_tokens')).toBeGreaterThanOrEqual(used.input);
  expect(sum('output_tokens')).toBeGreaterThanOrEqual(used.output);
  const perRequest = used.input / used.requests;
  expect(sum('input_tokens')).toBe(sum('num_model_requests') * perRequest);
  // Another team sees nothing of it.
  const foreign = await (await call(beta, path)).json();
  expect(
    (foreign as typeof reply & { data: { results: unknown[] }[] }).data.flatMap(({ results: own }) => own),
  ).toEqual([]);
}, 180_000);

test('the limit of a key made on the command line holds', async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 4; count++)
    statuses.push((await call(limited, '/v1/chat/completions', chat)).status);
  expect(statuses).toEqual([200, 200, 429, 429]);
  const refused = await call(limited, '/v1/chat/completions', chat);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(refused.headers.get('x-request-id')).not.toBeNull();
  expect(((await refused.json()) as { error: { code: string } }).error.code).toBe('rate_limit_exceeded');
}, 60_000);

test('slow feedback queries of one team delay no other team, and end when their clients leave', async () => {
  const item = (index: number) => ({
    project_id: 'acme/app',
    weave_ref: `weave:///acme/app/call/${index}`,
    feedback_type: 'custom',
    payload: { text: `${'x'.repeat(700_000)}${index}` },
  });
  for (let index = 0; index < 12; index++)
    expect((await call(acme, '/feedback/create', item(index))).status).toBe(200);
  const needles = Array.from({ length: 400 }, (_, index) => ({
    $contains: { input: { $getField: 'payload.text' }, substr: { $literal: `${'x'.repeat(200)}y${index}` } },
  }));
  const slow = { project_id: 'acme/app', query: { $expr: { $or: needles } } };
  const leaving = new AbortController();
  const queries = Array.from({ length: 12 }, () =>
    call(acme, '/feedback/query', slow, { signal: leaving.signal }).then(
      ({ status }) => status,
      () => 'left',
    ),
  );
  const start = performance.now();
  const quick = { project_id: 'beta/app' };
  expect((await call(beta, '/feedback/query', quick)).status).toBe(200);
  expect((await call(beta, '/v1/models')).status).toBe(200);
  expect((await call(beta, '/v1/chat/completions', chat)).status).toBe(200);
  // Alone they take a fraction of a second; after the twelve they took minutes.
  expect(performance.now() - start).toBeLessThan(10_000);
  leaving.abort();
  await Promise.all(queries);
  const after = performance.now();
  expect((await call(acme, '/feedback/query', { project_id: 'acme/app', fields: ['id'] })).status).toBe(200);
  expect(performance.now() - after).toBeLessThan(5_000);
}, 120_000);
