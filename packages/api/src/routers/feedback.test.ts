import type { BoundFeedbackQuery } from '@ortler/feedback-query';
import { describe, expect, it } from 'vitest';
import { createAppRouter } from '../app-router.ts';
import { createFakeServices, TEST_API_KEY } from '../testing/fake-services.ts';

/** A caller over a store that holds this many rows of one moment, of which `fitting` fit into a page. */
function callerOver(rowCount: number, fitting = Number.POSITIVE_INFINITY) {
  const services = createFakeServices();
  const cursor = { values: [], createdAtMs: 0, id: 'a' };
  const query = async ({ limit, withCursor }: BoundFeedbackQuery) => {
    const rows = Array.from({ length: Math.min(limit, rowCount, fitting) }, (_, index) => ({
      id: String(index),
    }));
    return {
      rows: new TextEncoder().encode(JSON.stringify(rows)),
      rowCount: rows.length,
      isCut: rows.length < Math.min(limit, rowCount),
      lastCursor: withCursor && rows.length > 0 ? (cursor as never) : null,
    };
  };
  return createAppRouter({ ...services, feedback: { ...services.feedback, query } }).createCaller({
    credentials: { kind: 'bearer', token: TEST_API_KEY },
    requestId: 'r',
    headers: {},
    signal: new AbortController().signal,
  }).feedback;
}

describe('an answer to a feedback query', () => {
  const project = { project_id: 'a/b', fields: ['id'] };

  it('has a cursor where the limit of the server cut it, and only there', async () => {
    const cut = await callerOver(10_050).query(project);
    expect(cut.result).toHaveLength(10_000);
    expect(cut.next_after).toEqual(expect.any(String));
    const whole = await callerOver(9_999).query(project);
    expect(Object.keys(whole)).toEqual(['result']);
    const asked = await callerOver(10_050).query({ ...project, limit: 10_000 });
    expect(Object.keys(asked)).toEqual(['result']);
  });

  it('that is cut by its size has a cursor, or is refused where nobody would look for one', async () => {
    const cut = await callerOver(5, 3).query(project);
    expect([cut.result.length, typeof cut.next_after]).toEqual([3, 'string']);
    const page = await callerOver(5, 3).query({ ...project, limit: 5, with_cursor: true });
    expect([page.result.length, typeof page.next_after]).toEqual([3, 'string']);
    const asked = callerOver(5, 3).query({ ...project, limit: 5 });
    await expect(asked).rejects.toMatchObject({ reason: 'answer_too_large', param: 'limit' });
  });

  it('has one on request', async () => {
    const page = await callerOver(5).query({ ...project, limit: 2, with_cursor: true });
    expect(page.next_after).toEqual(expect.any(String));
  });
});

describe('a large body of a query', () => {
  const text = JSON.stringify({ project_id: 'a/b', fields: ['id'] }).padEnd(40_000);
  const body = async function* (bytes: Uint8Array) {
    yield bytes;
  };

  it('is parsed in the turn of its team, and not at all for a caller who left', async () => {
    const services = createFakeServices();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const page = { rows: new TextEncoder().encode('[]'), rowCount: 0, isCut: false, lastCursor: null };
    const query = async () => {
      await answered;
      return page;
    };
    const router = createAppRouter({
      ...services,
      feedback: { ...services.feedback, queryConcurrency: 1, query },
    });
    const ask = (bytes: Uint8Array, signal = new AbortController().signal) =>
      router
        .createCaller({
          credentials: { kind: 'basic', username: 'api', password: TEST_API_KEY },
          requestId: 'r',
          headers: {},
          signal,
        })
        .feedback.queryBytes({ params: {}, body: body(bytes) });
    const leaving = new AbortController();
    const [first, second, third] = [1, 2, 3].map(() => new TextEncoder().encode(text));
    const running = ask(first!);
    const waiting = ask(second!);
    const left = ask(third!, leaving.signal);
    await expect.poll(() => first!.buffer.detached).toBe(true);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow();
    expect(second!.buffer.detached).toBe(false);
    answer();
    expect(await Promise.all([running, waiting])).toEqual([{ result: [] }, { result: [] }]);
    expect([second!.buffer.detached, third!.buffer.detached]).toEqual([true, false]);
  });
});

it('ids of one batch sort in its order', async () => {
  const item = {
    project_id: 'a/b',
    weave_ref: 'weave:///a/b/call/1',
    feedback_type: 'custom',
    payload: {},
  };
  const { res } = await callerOver(0).createBatch({ batch: Array.from({ length: 100 }, () => item) });
  const ids = res.map(({ id }) => id);
  expect(ids.toSorted()).toEqual(ids);
});
