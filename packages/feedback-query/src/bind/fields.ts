// Field names of a request, resolved to columns, map keys and payload paths.
// Used by the binder for expressions, selected fields and sort keys; knows nothing of SQL.
import { QueryError, type QueryPath } from '../errors.ts';
import { checkStorableText, DEFAULT_QUERY_LIMITS, type QueryLimits } from '../parse/limits.ts';
import { COLUMNS, type Column } from './columns.ts';

const COLUMNS_BY_NAME: ReadonlyMap<string, Column> = new Map(COLUMNS.map(item => [item.name, item]));

/** The valid field names, for error messages. */
const FIELD_NAMES = `fields are payload.<key> and ${COLUMNS.map(({ name }) => name).join(', ')}`;

/** The original API's second name of the payload. */
export const PAYLOAD_DUMP = 'payload_dump';

/** One step into a JSON value: a key of an object or a position in a list. */
export type PathSegment = string | number;

/** A resolved field name. */
export type Field =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'map-key'; readonly column: Column; readonly key: string }
  /** The whole payload when `segments` is empty. */
  | { readonly kind: 'payload'; readonly segments: readonly PathSegment[] };

const WHOLE_PAYLOAD: Field = Object.freeze({ kind: 'payload', segments: Object.freeze([]) });

/** Largest list position in every database. */
const MAX_INDEX = 2_147_483_647;
const INTEGER = /^[+-]?[0-9]+$/;

/**
 * Resolves a field name.
 *
 * Throws: `QueryError` `unknown_field`, `negative_index`, `invalid_text` or `too_large` at `path`.
 */
export function parseField(name: string, path: QueryPath, limits: QueryLimits = DEFAULT_QUERY_LIMITS): Field {
  if (name.length > limits.maxFieldLength) {
    throw new QueryError(
      'too_large',
      path,
      `A field name has at most ${limits.maxFieldLength} UTF-16 code units`,
    );
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

/** Splits at dots. `\.` is a dot inside a key. */
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
