// The fields that a filter may name: columns of feedback, and the payload paths that the server found. Pure.

import type { FieldType } from './filter-edit.ts';

export interface FieldInfo {
  readonly name: string;
  readonly type: FieldType;
}

export const COLUMN_FIELDS: readonly FieldInfo[] = [
  'id',
  'feedback_type',
  'created_at',
  'creator',
  'wb_user_id',
  'weave_ref',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'queue_id',
  'scorer_tags',
  'span_agent_name',
  'span_agent_version',
  'span_status_code',
  'span_conversation_id',
  'span_trace_id',
  'scorer_trace_id',
].map(name => ({ name, type: 'categorical' }));

/** Columns with a value for each key: `scorer_ratings.quality`. */
const MAP_FIELDS: readonly [prefix: string, type: FieldType][] = [
  ['scorer_ratings.', 'numeric'],
  ['scorer_rating_confidences.', 'numeric'],
  ['scorer_tag_confidences.', 'numeric'],
  ['scorer_tag_reasons.', 'categorical'],
  ['scorer_rating_reasons.', 'categorical'],
];

interface FoundPath {
  readonly json_path: string;
  readonly value_type: 'numeric' | 'boolean' | 'categorical';
}

/** Columns first, then the payload. */
export function fieldsOf(paths: readonly FoundPath[]): readonly FieldInfo[] {
  const found = paths.map(({ json_path, value_type }) => ({
    name: `payload.${json_path}`,
    type: value_type,
  }));
  return [...COLUMN_FIELDS, ...found];
}

export function typeOf(fields: readonly FieldInfo[], name: string): FieldType {
  const known = fields.find(field => field.name === name)?.type;
  return known ?? MAP_FIELDS.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 'unknown';
}
