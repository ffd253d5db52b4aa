// The HTTP application over a real database, for the feedback tests of this folder.

import type { FeedbackStore } from '@ortler/api';
import { createFakeServices, TEST_API_KEY } from '@ortler/api/testing';
import { type FeedbackRow, toRecord, VECTOR_ROWS } from '@ortler/feedback-query/testing';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { createApp } from '../../src/app.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import type { FeedbackPlace } from './feedback-places.ts';

export const BASIC = `Basic ${Buffer.from(`api:${TEST_API_KEY}`).toString('base64')}`;
export const PROJECT = 'acme/app';

export interface FeedbackApp {
  readonly app: FastifyInstance;
  readonly store: FeedbackStore;
  /** Takes the place of everything stored. */
  fill(rows: readonly FeedbackRow[]): Promise<void>;
  /** Posts to `/feedback/<name>`. */
  post(name: string, body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Ids that a query gives, in order. Fails unless it is answered with 200. */
  ids(parts: Record<string, unknown>): Promise<string[]>;
  /** Rows that a query gives. */
  rows(parts: Record<string, unknown>): Promise<Record<string, unknown>[]>;
}

/** Builds the application. */
export async function openFeedbackApp(place: FeedbackPlace): Promise<FeedbackApp> {
  const services = createFakeServices();
  const { store } = place;
  const app = await createApp({
    services: { ...services, feedback: store },
    metrics: createMetrics(services.models),
    bodyLimitBytes: 16 * 1024 * 1024,
    streamedBodyLimitBytes: 16 * 1024 * 1024,
    corsOrigins: '*',
    stopping: new AbortController().signal,
  });
  const post: FeedbackApp['post'] = (name, body, headers = {}) =>
    app.inject({
      method: 'POST',
      url: `/feedback/${name}`,
      headers: { authorization: BASIC, 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const rows: FeedbackApp['rows'] = async parts => {
    const response = await post('query', { project_id: PROJECT, ...parts });
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${response.body}`);
    return (response.json() as { result: Record<string, unknown>[] }).result;
  };
  return {
    app,
    store,
    post,
    rows,
    ids: async parts => (await rows({ fields: ['id'], ...parts })).map(({ id }) => String(id)),
    async fill(given) {
      await place.clear();
      await store.insert(given.map(toRecord));
    },
  };
}

/** The condition that a column has a value. */
export const where = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});

export { VECTOR_ROWS };
