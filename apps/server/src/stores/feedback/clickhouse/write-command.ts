// Write commands: one per call of the store. The writer plans the commands of several callers together and inserts
// their rows as one block.

import type { FeedbackRecord } from '@ortler/api';

export type WriteCommand =
  | { readonly kind: 'insert'; readonly records: readonly FeedbackRecord[] }
  | { readonly kind: 'replace'; readonly removedId: string; readonly record: FeedbackRecord }
  | { readonly kind: 'delete'; readonly projectId: string; readonly ids: readonly string[] };

/** An id within its project. */
export interface IdKey {
  readonly projectId: string;
  readonly id: string;
}

/** The records that a command stores. */
export function recordsOf(command: WriteCommand): readonly FeedbackRecord[] {
  switch (command.kind) {
    case 'insert':
      return command.records;
    case 'replace':
      return [command.record];
    case 'delete':
      return [];
  }
}

/** The ids that a command deletes. */
export function removedIdsOf(command: WriteCommand): readonly IdKey[] {
  switch (command.kind) {
    case 'insert':
      return [];
    case 'replace':
      return [{ projectId: command.record.project_id, id: command.removedId }];
    case 'delete':
      return command.ids.map(id => ({ projectId: command.projectId, id }));
  }
}

/** Map key of an id within its project. */
export function keyText({ projectId, id }: IdKey): string {
  return JSON.stringify([projectId, id]);
}
