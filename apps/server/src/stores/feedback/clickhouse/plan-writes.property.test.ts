// Orders written in blocks leave what they would leave one by one, and every caller is told the same.

import { ApiError, type FeedbackRecord } from '@ortler/api';
import { feedbackRow, toRecord } from '@ortler/feedback-query/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asNew, asStored } from '../inserted-feedback.ts';
import { planWrites, type WriteOutcome } from './plan-writes.ts';
import { keyText, recordsOf, removedIdsOf, type WriteOrder } from './write-order.ts';

const PROJECTS = ['p', 'q'];
const anyId = fc.constantFrom('a', 'b', 'c');
const anyProject = fc.constantFrom(...PROJECTS);
const anyRecord: fc.Arbitrary<FeedbackRecord> = fc
  .record({
    id: anyId,
    project_id: anyProject,
    created_at: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
    payload: fc.record({ v: fc.constantFrom(1, 2) }),
  })
  .map(row => toRecord(feedbackRow(row)));
const anyOrder: fc.Arbitrary<WriteOrder> = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), records: fc.array(anyRecord, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('replace' as const), removedId: anyId, record: anyRecord }),
  fc.record({
    kind: fc.constant('delete' as const),
    projectId: anyProject,
    ids: fc.array(anyId, { maxLength: 3 }),
  }),
);

/** A table as ClickHouse keeps it: the highest version of each key, and within one block the last of equal ones. */
class ReplacingTable {
  readonly #rows = new Map<string, Row>();

  insert(rows: readonly object[]): void {
    for (const row of rows as Row[]) {
      const key = JSON.stringify([row.project_id, row.created_at, row.id]);
      const before = this.#rows.get(key);
      // Equal versions would leave the choice to ClickHouse.
      if (before !== undefined) expect(row.version).toBeGreaterThan(before.version);
      this.#rows.set(key, row);
    }
  }

  get all(): readonly Row[] {
    return [...this.#rows.values()];
  }
}

interface Row {
  readonly project_id: string;
  readonly id: string;
  readonly created_at: string;
  readonly version: number;
  readonly is_removed?: number;
  readonly payload_dump: string;
}

const isoOf = (moment: string) => `${moment.replace(' ', 'T')}Z`;

/** What a lookup would say of the table. */
function look(table: ReplacingTable) {
  const lives = new Map<string, { createdAtMs: number; version: number; isRemoved: boolean }[]>();
  const rows = new Map<string, Record<string, unknown>>();
  for (const row of table.all) {
    const key = keyText({ projectId: row.project_id, id: row.id });
    const isRemoved = row.is_removed === 1;
    const life = { createdAtMs: Date.parse(isoOf(row.created_at)), version: row.version, isRemoved };
    lives.set(key, [...(lives.get(key) ?? []), life]);
    if (!isRemoved)
      rows.set(key, { ...row, payload: JSON.parse(row.payload_dump), created_at: isoOf(row.created_at) });
  }
  return { lives, rows };
}

/** The oracle: a map of what lives, changed by one order after the other. */
function applyAlone(living: Map<string, FeedbackRecord>, order: WriteOrder): WriteOutcome {
  const next = new Map(living);
  try {
    for (const id of removedIdsOf(order)) next.delete(keyText(id));
    const inserted = recordsOf(order).map(record => {
      const key = keyText({ projectId: record.project_id, id: record.id });
      const stored = next.get(key);
      if (stored === undefined) {
        next.set(key, record);
        return asNew(record);
      }
      const { payload_dump, created_at_ms, ...same } = stored;
      const row = {
        ...same,
        payload: JSON.parse(payload_dump),
        created_at: new Date(created_at_ms).toISOString(),
      };
      return asStored(record, row);
    });
    living.clear();
    for (const [key, record] of next) living.set(key, record);
    return { kind: 'done', inserted };
  } catch (error) {
    return { kind: 'refused', error };
  }
}

const toldOf = (outcome: WriteOutcome) =>
  outcome.kind === 'done' ? outcome.inserted : (outcome.error as ApiError).reason;

it('leaves what the orders would leave one by one, in blocks of any size', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyOrder, { maxLength: 5 }), { maxLength: 5 }), blocks => {
      const table = new ReplacingTable();
      const living = new Map<string, FeedbackRecord>();
      for (const orders of blocks) {
        const { rows, outcomes } = planWrites(orders, look(table));
        table.insert(rows);
        expect(outcomes.map(toldOf)).toEqual(orders.map(order => toldOf(applyAlone(living, order))));
      }
      const left = table.all.filter(row => row.is_removed !== 1);
      const shown = (row: { id: string; project_id: string; payload_dump: string }, at: number) =>
        JSON.stringify([row.project_id, row.id, row.payload_dump, at]);
      expect(left.map(row => shown(row, Date.parse(isoOf(row.created_at)))).sort()).toEqual(
        [...living.values()].map(record => shown(record, record.created_at_ms)).sort(),
      );
    }),
    { numRuns: 500 },
  );
});

it('refuses a moment that ClickHouse does not hold, and nothing else of the block', () => {
  const record = (id: string, created_at: string) => toRecord(feedbackRow({ id, created_at }));
  const { rows, outcomes } = planWrites(
    [
      { kind: 'insert', records: [record('a', '1899-12-31T00:00:00.000Z')] },
      { kind: 'insert', records: [record('b', '2026-01-01T00:00:00.000Z')] },
    ],
    { lives: new Map(), rows: new Map() },
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual(['refused', 'done']);
  expect(outcomes[0]).toMatchObject({ error: expect.any(ApiError) });
  expect(rows).toHaveLength(1);
});
