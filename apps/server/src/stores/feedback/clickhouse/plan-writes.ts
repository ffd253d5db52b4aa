// Decides what becomes of orders that are written together: which rows the block holds and what each caller is told. Pure:
// what is stored already comes in. Orders count in their order, as if each were written alone.

import type { FeedbackRecord, InsertedFeedback } from '@ortler/api';
import type { ResultRow } from '@ortler/feedback-query';
import { asNew, asStored } from '../inserted-feedback.ts';
import { type Life, toEndRow, toLifeRow } from './clickhouse-row.ts';
import { keyText, recordsOf, removedIdsOf, type WriteOrder } from './write-order.ts';

/** What is stored under the ids of the orders, by `keyText`. */
export interface StoredIds {
  /** All lives of an id, ended ones too. */
  readonly lives: ReadonlyMap<string, readonly Life[]>;
  /** Whole rows of ids that live. */
  readonly rows: ReadonlyMap<string, ResultRow>;
}

export type WriteOutcome =
  | { readonly kind: 'done'; readonly inserted: readonly InsertedFeedback[] }
  | { readonly kind: 'refused'; readonly error: unknown };

export interface WritePlan {
  readonly rows: readonly object[];
  /** One for each order. */
  readonly outcomes: readonly WriteOutcome[];
}

/** What is known of an id. */
interface IdState {
  readonly lives: readonly Life[];
  /** The row that lives; null when none does. */
  readonly row: ResultRow | null;
}

interface OrderPlan {
  readonly rows: readonly object[];
  readonly inserted: readonly InsertedFeedback[];
  readonly states: ReadonlyMap<string, IdState>;
}

/** Plans one block. */
export function planWrites(orders: readonly WriteOrder[], stored: StoredIds): WritePlan {
  const rows: object[] = [];
  const states = new Map<string, IdState>();
  const stateOf = (key: string): IdState =>
    states.get(key) ?? { lives: stored.lives.get(key) ?? [], row: stored.rows.get(key) ?? null };
  const outcomes = orders.map((order): WriteOutcome => {
    try {
      const plan = planOrder(order, stateOf);
      // From here on the order holds, whole.
      rows.push(...plan.rows);
      for (const [key, state] of plan.states) states.set(key, state);
      return { kind: 'done', inserted: plan.inserted };
    } catch (error) {
      return { kind: 'refused', error };
    }
  });
  return { rows, outcomes };
}

/** Throws: `ApiError` for an order that is refused as a whole. */
function planOrder(order: WriteOrder, before: (key: string) => IdState): OrderPlan {
  const rows: object[] = [];
  const states = new Map<string, IdState>();
  const stateOf = (key: string) => states.get(key) ?? before(key);
  for (const id of removedIdsOf(order)) {
    const key = keyText(id);
    const lives = stateOf(key).lives.map(life => {
      if (life.isRemoved) return life;
      rows.push(toEndRow(id.projectId, id.id, life));
      return { ...life, version: life.version + 1, isRemoved: true };
    });
    states.set(key, { lives, row: null });
  }
  const inserted = recordsOf(order).map(record => {
    const key = keyText({ projectId: record.project_id, id: record.id });
    const { lives, row } = stateOf(key);
    if (row !== null) return asStored(record, row);
    const sameMoment = lives.find(life => life.createdAtMs === record.created_at_ms);
    const version = (sameMoment?.version ?? 0) + 1;
    rows.push(toLifeRow(record, version));
    const life = { createdAtMs: record.created_at_ms, version, isRemoved: false };
    states.set(key, { lives: [...lives.filter(other => other !== sameMoment), life], row: toRow(record) });
    return asNew(record);
  });
  return { rows, inserted, states };
}

/** The record as a query would give it back. */
function toRow({ payload_dump, created_at_ms, ...same }: FeedbackRecord): ResultRow {
  return {
    ...same,
    payload: JSON.parse(payload_dump) as unknown,
    created_at: new Date(created_at_ms).toISOString(),
  };
}
