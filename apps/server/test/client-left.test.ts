// What an operator sees of requests whose client left before the end of the answer.

import { createFakeEngine, createFakeServices } from '@ortler/api/testing';
import { pino } from 'pino';
import { afterEach, expect, it, vi } from 'vitest';
import type { FinishedSpan } from '../src/tracing/otlp-exporter.ts';
import { createTracing } from '../src/tracing/tracing.ts';
import { AUTHORIZATION, CHAT_PATH, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
afterEach(() => test.app.close());

it.each([
  ['a stream', true, 1, { status: 200, group: '2xx' }],
  ['an answer that has not begun', false, 0, { status: 499, group: '4xx' }],
])('counts, traces and logs %s', async (_name, stream, heldToken, { status, group }) => {
  const held = Promise.withResolvers<void>();
  const beforeToken = vi.fn(async (number: number) => (number < heldToken ? undefined : held.promise));
  const engine = createFakeEngine({ pieces: ['a', 'b', 'c'], beforeToken });
  const spans: FinishedSpan[] = [];
  const exporter = { add: (span: FinishedSpan) => spans.push(span), close: async () => undefined };
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: line => lines.push(line) });
  const tracing = createTracing({ exporter, sampleShare: 1 });
  test = await openTestApp(createFakeServices({ demo: engine }), undefined, { tracing, logger });
  const leaving = new AbortController();
  const reply = fetch(`${await test.listen()}${CHAT_PATH}`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', 'x-request-id': 'mine' },
    body: JSON.stringify({ messages: MESSAGES, stream }),
    signal: leaving.signal,
  }).catch(() => undefined);
  if (stream) await reply;
  await vi.waitFor(() => expect(beforeToken).toHaveBeenCalledTimes(heldToken + 1));
  leaving.abort();
  await vi.waitFor(() => expect(engine.abortedCount).toBe(1));
  held.resolve();

  const labels = `method="POST",handler="${CHAT_PATH}"`;
  await vi.waitFor(async () => {
    const { body } = await test.app.inject('/metrics');
    expect(body).toContain(`http_requests_total{${labels},status="${group}"} 1`);
    expect(body).toContain(`http_request_duration_seconds_count{${labels}} 1`);
  });
  expect(spans.filter(({ name }) => name === `POST ${CHAT_PATH}`)).toMatchObject([
    { attributes: { 'http.response.status_code': status }, isError: false },
  ]);
  const ofRequest = lines.map(line => JSON.parse(line)).filter(line => line.requestId === 'mine');
  expect(ofRequest).toMatchObject([
    { msg: 'incoming request' },
    { msg: 'client left', res: { statusCode: status } },
  ]);
});
