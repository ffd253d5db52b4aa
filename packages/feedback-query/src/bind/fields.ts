// Field names of a request, resolved to columns, map keys and payload paths.
// Used by the binder for expressions, selected fields and sort keys; knows nothing of SQL.
import { QueryError, type QueryPath } from '../errors.ts';
import { checkStorableText, DEFAULT_QUERY_LIMITS, type QueryLimits } from '../parse/limits.ts';
import { COLUMNS, type Column } from './columns.ts';

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
