// A time window keeps the rest of the query; the direction depends on the first sort key alone.
import { expect, it } from 'vitest';
import { explainFeedbackQuery } from '../compile/compile-query.ts';
import { sqliteDialect } from '../dialects/sqlite.ts';
import { bindFeedbackQuery } from './bind-query.ts';
import { cursorMoment, timeDirection, withinWindow } from './time-window.ts';

const bind = (parts: object) => bindFeedbackQuery({ projectId: 'p', fields: ['id'], ...parts });

it.each([
  [{}, 'asc'],
  [{ sortBy: [{ field: 'created_at', direction: 'desc' }] }, 'desc'],
  [{ sortBy: [{ field: 'creator' }] }, null],
  [{ sortBy: [{ field: 'payload.x' }, { field: 'created_at' }] }, null],
  [{ fields: ['count(*)'] }, null],
])('%j runs through time: %s', (parts, direction) => {
  expect(timeDirection(bind(parts))).toBe(direction);
});

it('adds its ends to the filter', () => {
  const query = bind({ query: { $expr: { $eq: [{ $getField: 'creator' }, { $literal: 'Ann' }] } } });
  const { sql, parameters } = explainFeedbackQuery(
    withinWindow(query, { fromMs: 0, toMs: 1 }),
    sqliteDialect,
  );
  expect(sql).toContain(
    'f.project_id = ? AND ((f.created_at >= ?) AND (f.created_at <= ?) AND (f.creator = ?))',
  );
  expect(parameters.slice(0, 4)).toEqual([
    'p',
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.001Z',
    'Ann',
  ]);
});

it.each([
  [null, null],
  [['2026-01-01T00:00:00.000Z', 'a'], Date.UTC(2026, 0, 1)],
  [['2026-01-01T02:00:00+02:00', 'a'], Date.UTC(2026, 0, 1)],
  [['nonsense', 'a'], null],
])('the cursor %j stands at %s', (after, moment) => {
  expect(cursorMoment(bind({ after }))).toBe(moment);
});

it('is the query itself without ends', () => {
  const query = bind({});
  expect(withinWindow(query, {})).toBe(query);
});
