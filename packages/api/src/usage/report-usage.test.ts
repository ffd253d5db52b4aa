import { usageInput } from '@ortler/schemas';
import { expect, it } from 'vitest';
import type { UsageQuery } from '../ports/usage-services.ts';
import { reportUsage } from './report-usage.ts';

const NOON = Date.UTC(2026, 10, 23, 12);
const DAY_S = 86_400;
const START_S = Date.UTC(2026, 10, 20) / 1_000;

function createUsage() {
  const asked: UsageQuery[] = [];
  const sum = {
    keyId: null,
    team: null,
    project: null,
    model: 'demo',
    requestCount: 2,
    inputTokenCount: 30,
    cachedTokenCount: 20,
    outputTokenCount: 10,
  };
  const usage = {
    record: async () => undefined,
    list: async (query: UsageQuery) => {
      asked.push(query);
      return [{ ...sum, day: '2026-11-21' }];
    },
  };
  const report = (fields: object, caller = {}) =>
    reportUsage({ usage, now: () => NOON }, { keyId: 'k', ...caller }, usageInput.parse(fields));
  return { asked, report };
}

it('has a bucket for each day up to now, also without usage', async () => {
  const { report } = createUsage();
  const { data, has_more, next_page } = await report({ start_time: START_S + 5, group_by: 'model' });
  expect(data.map(({ start_time }) => (start_time - START_S) / DAY_S)).toEqual([0, 1, 2, 3]);
  expect(data.map(({ results }) => results.length)).toEqual([0, 1, 0, 0]);
  expect(data[1]!.results[0]).toMatchObject({
    model: 'demo',
    num_model_requests: 2,
    input_cached_tokens: 20,
  });
  expect({ has_more, next_page }).toEqual({ has_more: false, next_page: null });
});

it('pages join to the whole', async () => {
  const { report } = createUsage();
  const whole = await report({ start_time: START_S });
  const first = await report({ start_time: START_S, limit: 3 });
  expect(first).toMatchObject({ has_more: true, next_page: '2026-11-23' });
  const second = await report({ start_time: START_S, limit: 3, page: first.next_page });
  expect([...first.data, ...second.data].map(({ start_time }) => start_time)).toEqual(
    whole.data.map(({ start_time }) => start_time),
  );
  expect(second.has_more).toBe(false);
});

it.each(['2026-13-45', '2026-02-30', '0000-00-00', '2026-11-1', '2026-11-19', '2026-11-23'])(
  'refuses the page %s, which no request with these times gave',
  page => {
    const times = { start_time: START_S, end_time: START_S + 3 * DAY_S };
    expect(usageInput.safeParse({ ...times, page }).error?.issues).toMatchObject([{ path: ['page'] }]);
  },
);

it('shows a team its own usage only', async () => {
  const { asked, report } = createUsage();
  await report({ start_time: START_S }, { team: 'acme' });
  expect(asked[0]!.teams).toEqual(['acme']);
  const foreign = report({ start_time: START_S, team_ids: 'acme,beta' }, { team: 'acme' });
  await expect(foreign).rejects.toMatchObject({ reason: 'forbidden', param: 'team_ids' });
  await report({ start_time: START_S, team_ids: 'beta' });
  expect(asked[1]!.teams).toEqual(['beta']);
});
