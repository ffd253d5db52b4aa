// Which columns a feedback row has, and what a field name in a request stands for.
// Used by the binder for expressions, selected fields and sort keys; knows nothing of SQL.
import { QueryError, type QueryPath } from '../errors.ts';
import { DEFAULT_QUERY_LIMITS, type QueryLimits } from '../parse/limits.ts';
import { checkStorableText } from '../parse/storable-text.ts';

/**
 * What a column holds.
 *
 * - `text`, `datetime` (UTC, milliseconds), `json` (one JSON object)
 * - `text-list`: list of texts
 * - `text-map`, `number-map`: texts or numbers by key
 */
export type ColumnType = 'text' | 'datetime' | 'json' | 'text-list' | 'text-map' | 'number-map';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
}

function column(name: string, type: ColumnType = 'text', nullable = false): Column {
  return Object.freeze({ name, type, nullable });
}

/** Every column of a feedback row, in the order a whole row shows them. */
export const COLUMNS: readonly Column[] = Object.freeze([
  column('id'),
  column('project_id'),
  column('weave_ref'),
  column('wb_user_id'),
  column('creator', 'text', true),
  column('created_at', 'datetime'),
  column('feedback_type'),
  column('payload', 'json'),
  column('annotation_ref', 'text', true),
  column('runnable_ref', 'text', true),
  column('call_ref', 'text', true),
  column('trigger_ref', 'text', true),
  column('queue_id', 'text', true),
  column('scorer_tags', 'text-list'),
  column('scorer_tag_reasons', 'text-map'),
  column('scorer_tag_confidences', 'number-map'),
  column('scorer_ratings', 'number-map'),
  column('scorer_rating_reasons', 'text-map'),
  column('scorer_rating_confidences', 'number-map'),
  column('span_agent_name'),
  column('span_agent_version'),
  column('span_status_code'),
  column('span_conversation_id'),
  column('span_trace_id'),
  column('scorer_trace_id'),
]);

const COLUMNS_BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map(item => [item.name, item]));

/** What may stand where a field is asked for, in the words of an error. */
const FIELD_NAMES = `fields are payload.<key> and ${COLUMNS.map(({ name }) => name).join(', ')}`;

/** Name under which the original's clients also know the payload. */
export const PAYLOAD_DUMP = 'payload_dump';

/** One step into a JSON value: a key of an object or a position in a list. */
export type PathSegment = string | number;

/** What a field name stands for. */
export type Field =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'map-key'; readonly column: Column; readonly key: string }
  /** The whole payload when `segments` is empty. */
  | { readonly kind: 'payload'; readonly segments: readonly PathSegment[] };

const WHOLE_PAYLOAD: Field = Object.freeze({ kind: 'payload', segments: Object.freeze([]) });

/** Largest list position every database takes. */
const MAX_INDEX = 2_147_483_647;
const INTEGER = /^[+-]?[0-9]+$/;

/**
 * Resolves a field name.
 *
 * Throws: `QueryError` `unknown_field`, `negative_index`, `invalid_text` or `too_large` at `path`.
 */
export function parseField(name: string, path: QueryPath, limits: QueryLimits = DEFAULT_QUERY_LIMITS): Field {
  if (name.length > limits.maxFieldLength) {
    throw new QueryError('too_large', path, `A field name has at most ${limits.maxFieldLength} units`);
  }
  checkStorableText(name, path);
  if (name === 'payload' || name === PAYLOAD_DUMP) return WHOLE_PAYLOAD;
  if (name.startsWith('payload.')) {
    const segments = parseSegments(name.slice('payload.'.length), path);
    if (segments.length > limits.maxSegmentCount) {
      throw new QueryError(
        'too_large',
        path,
        `A payload path has at most ${limits.maxSegmentCount} segments`,
      );
    }
    return Object.freeze({ kind: 'payload', segments });
  }
  const known = COLUMNS_BY_NAME.get(name);
  if (known !== undefined) return Object.freeze({ kind: 'column', column: known });
  const dot = name.indexOf('.');
  const map = dot < 0 ? undefined : COLUMNS_BY_NAME.get(name.slice(0, dot));
  if (map?.type === 'text-map' || map?.type === 'number-map') {
    return Object.freeze({ kind: 'map-key', column: map, key: name.slice(dot + 1) });
  }
  throw new QueryError('unknown_field', path, `Unknown field: ${name}; ${FIELD_NAMES}`);
}

/** Splits at dots; a dot after a backslash belongs to the key, and the backslash is dropped. */
function parseSegments(text: string, path: QueryPath): readonly PathSegment[] {
  const keys = text.split(/(?<!\\)\./).map(key => key.replaceAll('\\.', '.'));
  return Object.freeze(keys.map(key => toSegment(key, path)));
}

/** A segment that looks like an integer is a position in a list, never a key. */
function toSegment(key: string, path: QueryPath): PathSegment {
  if (!INTEGER.test(key)) return key;
  const index = Number(key);
  if (index < 0) {
    throw new QueryError('negative_index', path, `Negative array index '${key}' is not supported`);
  }
  if (index > MAX_INDEX) throw new QueryError('too_large', path, `Array index '${key}' is too large`);
  return index;
}
