// What one caller asks of the writer. Orders of many callers are planned together and written as one block.

import type { FeedbackRecord } from '@ortler/api';

export type WriteOrder =
  | { readonly kind: 'insert'; readonly records: readonly FeedbackRecord[] }
  | { readonly kind: 'replace'; readonly removedId: string; readonly record: FeedbackRecord }
  | { readonly kind: 'delete'; readonly projectId: string; readonly ids: readonly string[] };

/** An id within its project. */
export interface IdKey {
  readonly projectId: string;
  readonly id: string;
}

/** The records that an order stores. */
export function recordsOf(order: WriteOrder): readonly FeedbackRecord[] {
  switch (order.kind) {
    case 'insert':
      return order.records;
    case 'replace':
      return [order.record];
    case 'delete':
      return [];
  }
}

/** The ids that an order removes. */
export function removedIdsOf(order: WriteOrder): readonly IdKey[] {
  switch (order.kind) {
    case 'insert':
      return [];
    case 'replace':
      return [{ projectId: order.record.project_id, id: order.removedId }];
    case 'delete':
      return order.ids.map(id => ({ projectId: order.projectId, id }));
  }
}

/** One text for an id and its project. */
export function keyText({ projectId, id }: IdKey): string {
  return JSON.stringify([projectId, id]);
}
