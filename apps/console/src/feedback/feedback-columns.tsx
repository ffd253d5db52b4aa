// The columns of the feedback table.

import type { DataColumn } from '../components/data-table.tsx';
import { printJson } from '../components/print-json.ts';
import type { FeedbackRow } from './use-feedback.ts';

const text = (value: unknown) => (value === null || value === undefined ? '' : String(value));

export const rowIdOf = (row: FeedbackRow) => text(row.id);

export const FEEDBACK_COLUMNS: readonly DataColumn<FeedbackRow>[] = [
  { id: 'created_at', header: 'Created', width: 150, isSortable: true, cell: row => toTime(row.created_at) },
  { id: 'feedback_type', header: 'Type', width: 160, isSortable: true, cell: row => text(row.feedback_type) },
  {
    id: 'payload',
    header: 'Payload',
    width: 320,
    cell: row => <code className="text-xs">{printJson(row.payload)}</code>,
  },
  { id: 'creator', header: 'Creator', width: 110, isSortable: true, cell: row => text(row.creator) },
  { id: 'weave_ref', header: 'About', width: 220, isSortable: true, cell: row => text(row.weave_ref) },
  { id: 'call_ref', header: 'Call', width: 140, isSortable: true, cell: row => text(row.call_ref) },
];

function toTime(value: unknown): string {
  return text(value).slice(0, 19).replace('T', ' ');
}
