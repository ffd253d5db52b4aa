// Plans a batch of write commands: the rows of the block to insert, and the outcome of each command. Pure: stored rows
// come in as an argument. The outcome is the same as if the commands were written one by one, in their order.

import type { FeedbackRecord, InsertedFeedback } from '@ortler/api';
import type { ResultRow } from '@ortler/feedback-query';
import { asNew, asStored } from '../inserted-feedback.ts';
import { type RowVersion, toTombstone, toVersionRow } from './clickhouse-row.ts';
import { keyText, recordsOf, removedIdsOf, type WriteCommand } from './write-command.ts';

/** The stored state of every id that the commands name, by `keyText`. */
export interface StoredIds {
  /** Latest row version of each key of an id, tombstones included. */
  readonly versions: ReadonlyMap<string, readonly RowVersion[]>;
  /** Whole rows of ids that are not deleted, as `toStoredRow` gives them. */
  readonly rows: ReadonlyMap<string, ResultRow>;
}

export type WriteOutcome =
  | { readonly kind: 'done'; readonly inserted: readonly InsertedFeedback[] }
  | { readonly kind: 'refused'; readonly error: unknown };

export interface WritePlan {
  readonly rows: readonly object[];
  /** One per command, in the order of the commands. */
  readonly outcomes: readonly WriteOutcome[];
}

/** State of one id after the commands planned so far. */
interface IdState {
  readonly versions: readonly RowVersion[];
  /** The current row; null when the id is new or deleted. */
  readonly row: ResultRow | null;
}

interface CommandPlan {
  readonly rows: readonly object[];
  readonly inserted: readonly InsertedFeedback[];
  readonly states: ReadonlyMap<string, IdState>;
}

/** Plans one block. */
export function planWrites(commands: readonly WriteCommand[], stored: StoredIds): WritePlan {
  const rows: object[] = [];
  const states = new Map<string, IdState>();
  const stateOf = (key: string): IdState =>
    states.get(key) ?? { versions: stored.versions.get(key) ?? [], row: stored.rows.get(key) ?? null };
  const outcomes = commands.map((command): WriteOutcome => {
    try {
      const plan = planCommand(command, stateOf);
      // A command takes effect as a whole: nothing of it is kept when planning throws.
      rows.push(...plan.rows);
      for (const [key, state] of plan.states) states.set(key, state);
      return { kind: 'done', inserted: plan.inserted };
    } catch (error) {
      return { kind: 'refused', error };
    }
  });
  return { rows, outcomes };
}

/** Throws: `ApiError` for a command that is refused as a whole. */
function planCommand(command: WriteCommand, before: (key: string) => IdState): CommandPlan {
  const rows: object[] = [];
  const states = new Map<string, IdState>();
  const stateOf = (key: string) => states.get(key) ?? before(key);
  for (const id of removedIdsOf(command)) {
    const key = keyText(id);
    const versions = stateOf(key).versions.map(latest => {
      if (latest.isTombstone) return latest;
      rows.push(toTombstone(id.projectId, id.id, latest));
      return { ...latest, version: latest.version + 1, isTombstone: true };
    });
    states.set(key, { versions, row: null });
  }
  const inserted = recordsOf(command).map(record => {
    const key = keyText({ projectId: record.project_id, id: record.id });
    const { versions, row } = stateOf(key);
    if (row !== null) return asStored(record, row);
    const sameKey = versions.find(latest => latest.createdAtMs === record.created_at_ms);
    const version = (sameKey?.version ?? 0) + 1;
    rows.push(toVersionRow(record, version));
    const latest = { createdAtMs: record.created_at_ms, version, isTombstone: false };
    states.set(key, {
      versions: [...versions.filter(other => other !== sameKey), latest],
      row: toRow(record),
    });
    return asNew(record);
  });
  return { rows, inserted, states };
}

/** The record as a stored row. */
function toRow({ payload_dump, created_at_ms, ...same }: FeedbackRecord): ResultRow {
  return {
    ...same,
    payload: payload_dump,
    created_at: new Date(created_at_ms).toISOString(),
  };
}
