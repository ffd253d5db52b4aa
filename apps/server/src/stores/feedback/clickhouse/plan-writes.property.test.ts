// Write commands in blocks leave the same rows, and give each caller the same answer, as the commands one by one.

import { ApiError, type FeedbackRecord } from '@ortler/api';
import { feedbackRow, toRecord } from '@ortler/feedback-query/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asNew, asStored } from '../inserted-feedback.ts';
import { planWrites, type WriteOutcome } from './plan-writes.ts';
import { keyText, recordsOf, removedIdsOf, type WriteCommand } from './write-command.ts';

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
const anyCommand: fc.Arbitrary<WriteCommand> = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), records: fc.array(anyRecord, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('replace' as const), removedId: anyId, record: anyRecord }),
  fc.record({
    kind: fc.constant('delete' as const),
    projectId: anyProject,
    ids: fc.array(anyId, { maxLength: 3 }),
  }),
);

/** A ReplacingMergeTree: the highest version of each key. */
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

/** The stored state of all ids, as `loadStoredIds` would load it. */
function stateOf(table: ReplacingTable) {
  const versions = new Map<string, { createdAtMs: number; version: number; isTombstone: boolean }[]>();
  const rows = new Map<string, Record<string, unknown>>();
  for (const row of table.all) {
    const key = keyText({ projectId: row.project_id, id: row.id });
    const isTombstone = row.is_removed === 1;
    const latest = { createdAtMs: Date.parse(isoOf(row.created_at)), version: row.version, isTombstone };
    versions.set(key, [...(versions.get(key) ?? []), latest]);
    if (!isTombstone) rows.set(key, { ...row, payload: row.payload_dump, created_at: isoOf(row.created_at) });
  }
  return { versions, rows };
}

/** The oracle: a map of current records, changed by one command after the other. */
function applyAlone(current: Map<string, FeedbackRecord>, command: WriteCommand): WriteOutcome {
  const next = new Map(current);
  try {
    for (const id of removedIdsOf(command)) next.delete(keyText(id));
    const inserted = recordsOf(command).map(record => {
      const key = keyText({ projectId: record.project_id, id: record.id });
      const stored = next.get(key);
      if (stored === undefined) {
        next.set(key, record);
        return asNew(record);
      }
      const { payload_dump, created_at_ms, ...same } = stored;
      const row = {
        ...same,
        payload: payload_dump,
        created_at: new Date(created_at_ms).toISOString(),
      };
      return asStored(record, row);
    });
    current.clear();
    for (const [key, record] of next) current.set(key, record);
    return { kind: 'done', inserted };
  } catch (error) {
    return { kind: 'refused', error };
  }
}

const answerOf = (outcome: WriteOutcome) =>
  outcome.kind === 'done' ? outcome.inserted : (outcome.error as ApiError).reason;

it('leaves the rows that the commands would leave one by one, in blocks of any size', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyCommand, { maxLength: 5 }), { maxLength: 5 }), blocks => {
      const table = new ReplacingTable();
      const current = new Map<string, FeedbackRecord>();
      for (const commands of blocks) {
        const { rows, outcomes } = planWrites(commands, stateOf(table));
        table.insert(rows);
        expect(outcomes.map(answerOf)).toEqual(
          commands.map(command => answerOf(applyAlone(current, command))),
        );
      }
      const left = table.all.filter(row => row.is_removed !== 1);
      const shown = (row: { id: string; project_id: string; payload_dump: string }, at: number) =>
        JSON.stringify([row.project_id, row.id, row.payload_dump, at]);
      expect(left.map(row => shown(row, Date.parse(isoOf(row.created_at)))).sort()).toEqual(
        [...current.values()].map(record => shown(record, record.created_at_ms)).sort(),
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
    { versions: new Map(), rows: new Map() },
  );
  expect(outcomes.map(({ kind }) => kind)).toEqual(['refused', 'done']);
  expect(outcomes[0]).toMatchObject({ error: expect.any(ApiError) });
  expect(rows).toHaveLength(1);
});
