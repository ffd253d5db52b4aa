// Opens the application over fake services for the tests of this folder.

import type { AddressInfo } from 'node:net';
import { createFakeServices, type FakeServices, TEST_API_KEY } from '@ortler/api/testing';
import type { ChatChunk } from '@ortler/schemas';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { type AppOptions, createApp } from '../src/app.ts';
import { createMetrics } from '../src/system/metrics.ts';

export const AUTHORIZATION = `Bearer ${TEST_API_KEY}`;
export const CHAT_PATH = '/v1/chat/completions';
export const MESSAGES = [{ role: 'user', content: 'hi' }];
export const ALLOWED_ORIGIN = 'https://a.example';

/** Small, so that tests can pass it; larger than what a log test sends. */
export const STREAMED_BODY_LIMIT = 4 * 1024 * 1024;

export interface TestApp {
  readonly app: FastifyInstance;
  readonly services: FakeServices;
  readonly stopping: AbortController;
  /** Posts a chat body: text as it is, anything else as JSON. */
  post(body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Listens on a free port and gives the address. */
  listen(): Promise<string>;
}

export async function openTestApp(
  services: FakeServices = createFakeServices(),
  bodyLimitBytes = 4_096,
  options: Partial<
    Pick<
      AppOptions,
      | 'logger'
      | 'stalledReaderMs'
      | 'corsOrigins'
      | 'storage'
      | 'allowedHosts'
      | 'metricsAccess'
      | 'isStopping'
      | 'tracing'
    >
  > = {},
): Promise<TestApp> {
  const stopping = new AbortController();
  const metrics = createMetrics(services.models);
  const observed = {
    ...services,
    generations: {
      tokensGenerated: metrics.tokensGenerated,
      generationEnded(report: (typeof services.reports)[number]) {
        services.generations.generationEnded(report);
        metrics.generationEnded(report);
      },
    },
  };
  const app = await createApp({
    services: observed,
    metrics,
    bodyLimitBytes,
    streamedBodyLimitBytes: STREAMED_BODY_LIMIT,
    corsOrigins: [ALLOWED_ORIGIN],
    stopping: stopping.signal,
    stalledReaderMs: 0,
    ...options,
  });
  return {
    app,
    services,
    stopping,
    post: (body, headers = {}) =>
      app.inject({
        method: 'POST',
        url: CHAT_PATH,
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async listen() {
      await app.listen({ host: '127.0.0.1', port: 0 });
      return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    },
  };
}

export interface ErrorEvent {
  readonly error: { readonly message: string; readonly type: string; readonly code: number };
}

/** The events of a stream; checks that it is nothing but `data:` lines with `[DONE]` last. */
export function readEvents(body: string): (ChatChunk | ErrorEvent)[] {
  const frames = body.split('\n\n');
  expect(frames.pop()).toBe('');
  expect(frames.pop()).toBe('data: [DONE]');
  return frames.map(frame => {
    expect(frame).toMatch(/^data: \{[^\n]*\}$/);
    return JSON.parse(frame.slice('data: '.length)) as ChatChunk | ErrorEvent;
  });
}

/** The events of a stream that went well. */
export function readChunks(body: string): ChatChunk[] {
  return readEvents(body).map(event => {
    if ('error' in event) throw new Error(event.error.message);
    return event;
  });
}
