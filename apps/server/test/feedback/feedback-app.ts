// The HTTP application over a real database, for the feedback tests of this folder.

import { createFakeServices, TEST_API_KEY } from '@ortler/api/testing';
import { type FeedbackRow, toRecord } from '@ortler/feedback-query/testing';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll } from 'vitest';
import { createApp } from '../../src/app.ts';
import { FeedbackBodyReader } from '../../src/stores/feedback/body-reader.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { DATABASE_HOOK_TIMEOUT_MS } from '../databases.ts';
import type { FeedbackPlace, FeedbackPlaceKind } from './feedback-places.ts';

const BASIC = `Basic ${Buffer.from(`api:${TEST_API_KEY}`).toString('base64')}`;
export const PROJECT = 'acme/app';

export interface FeedbackApp {
  /** Takes the place of everything stored. */
  fill(rows: readonly FeedbackRow[]): Promise<void>;
  /** Posts to `/feedback/<name>`. */
  post(name: string, body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Ids that a query gives, in order. Fails unless it is answered with 200. */
  ids(parts: Record<string, unknown>): Promise<string[]>;
  /** Rows that a query gives. */
  rows(parts: Record<string, unknown>): Promise<Record<string, unknown>[]>;
  /** Closes the place as well. */
  close(): Promise<void>;
}

/**
 * Opens a place and the application over it for the tests of a description, and closes both behind them. What is given
 * has its members as soon as a test or a later hook runs.
 */
export function useFeedbackApp(open: FeedbackPlaceKind['open']): FeedbackApp {
  const feedback = {} as FeedbackApp;
  beforeAll(async () => {
    Object.assign(feedback, await openFeedbackApp(await open()));
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterAll(() => feedback.close(), DATABASE_HOOK_TIMEOUT_MS);
  return feedback;
}

async function openFeedbackApp(place: FeedbackPlace): Promise<FeedbackApp> {
  const services = createFakeServices();
  const feedbackBodies = new FeedbackBodyReader();
  const app = await createApp({
    services: { ...services, feedback: place.store, feedbackBodies, annotations: place.annotations },
    metrics: createMetrics(services.models),
    bodyLimitBytes: 16 * 1024 * 1024,
    streamedBodyLimitBytes: 16 * 1024 * 1024,
    stalledReaderMs: 0,
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
    post,
    rows,
    ids: async parts => (await rows({ fields: ['id'], ...parts })).map(({ id }) => String(id)),
    async fill(given) {
      await place.clear();
      await place.store.insert(given.map(toRecord));
    },
    async close() {
      await app.close();
      await feedbackBodies.close();
      await place.close();
    },
  };
}

/** The condition that a column has a value. */
export const where = (field: string, value: unknown) => ({
  $expr: { $eq: [{ $getField: field }, { $literal: value }] },
});
