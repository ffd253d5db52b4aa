// Traces of requests, over the application: the span of the caller, the request, its generation and its statements.

import { createFakeEngine, createFakeServices } from '@ortler/api/testing';
import { afterEach, expect, it } from 'vitest';
import type { FinishedSpan } from '../src/tracing/otlp-exporter.ts';
import { createTracing } from '../src/tracing/tracing.ts';
import { AUTHORIZATION, CHAT_PATH, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

let test: TestApp;
afterEach(() => test.app.close());

async function openTraced() {
  const spans: FinishedSpan[] = [];
  const exporter = { add: (span: FinishedSpan) => spans.push(span), close: async () => undefined };
  const tracing = createTracing({ exporter, sampleShare: 0 });
  const services = createFakeServices({
    demo: createFakeEngine({ timing: { queuedMs: 5, prefillMs: 20 }, decodeMs: 30 }),
  });
  const verify = services.credentials.verifyBearer;
  test = await openTestApp(
    {
      ...services,
      generations: {
        tokensGenerated: () => undefined,
        generationEnded: report => tracing.generationEnded(report),
      },
      credentials: {
        verifyBearer: token => tracing.statement('sqlite', 'select key from keys', () => verify(token)),
      },
    },
    undefined,
    { tracing },
  );
  return spans;
}

it.each([
  ['REST', CHAT_PATH, { messages: MESSAGES }],
  ['a REST stream', CHAT_PATH, { messages: MESSAGES, stream: true }],
  ['tRPC', '/trpc/chat.complete', { messages: MESSAGES }],
])('continues the trace of the caller through %s', async (_name, url, payload) => {
  const spans = await openTraced();
  const reply = await test.app.inject({
    method: 'POST',
    url,
    headers: { authorization: AUTHORIZATION, traceparent: `00-${TRACE}-${CALLER}-01` },
    payload,
  });
  expect(reply.statusCode).toBe(200);
  const byName = new Map(spans.map(span => [span.name, span]));
  expect([...byName.keys()].sort()).toEqual(
    ['decode', 'llm_request', 'prefill', 'queue', 'sqlite SELECT', expect.stringMatching(/^POST /)].sort(),
  );
  expect(spans.every(({ traceId }) => traceId === TRACE)).toBe(true);
  const request = spans.find(({ kind }) => kind === 'server')!;
  const generation = byName.get('llm_request')!;
  expect(request.parentSpanId).toBe(CALLER);
  expect(generation.parentSpanId).toBe(request.spanId);
  expect(byName.get('sqlite SELECT')!.parentSpanId).toBe(request.spanId);
  for (const phase of ['queue', 'prefill', 'decode'])
    expect(byName.get(phase)!.parentSpanId).toBe(generation.spanId);
  const [queue, prefill] = [byName.get('queue')!, byName.get('prefill')!];
  expect(queue.endMs - queue.startMs).toBeCloseTo(5);
  expect(prefill.startMs).toBe(queue.endMs);
  expect(generation.attributes).toMatchObject({
    'gen_ai.usage.completion_tokens': 3,
    'gen_ai.response.finish_reasons': ['stop'],
  });
});

it('records nothing that the caller does not record, and no trace of its own with a share of 0', async () => {
  const spans = await openTraced();
  for (const headers of [{ traceparent: `00-${TRACE}-${CALLER}-00` }, {}])
    await test.app.inject({ url: '/v1/models', headers: { authorization: AUTHORIZATION, ...headers } });
  expect(spans).toEqual([]);
});
