// Checks of operator arguments: unknown JSON to literals, texts, flags, tuples, lists and named arguments, or a
// QueryError with the path. Used by parse-expr.ts only.
import { QueryError, type QueryErrorCode } from '../errors.ts';
import { CONVERT_TARGETS, type ConvertTarget, type LiteralValue } from './expr-node.ts';
import { type ExprPath, step, toQueryPath } from './expr-path.ts';
import { checkStorableText, type QueryLimits } from './limits.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The spellings of a boolean that the original API accepts. */
const LAX_BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  ...[true, 1, '1', 'true', 't', 'yes', 'y', 'on'].map(value => [value, true] as const),
  ...[false, 0, null, '0', 'false', 'f', 'no', 'n', 'off'].map(value => [value, false] as const),
]);

/** The argument of `$literal`. */
export function parseLiteral(input: unknown, path: ExprPath, limits: QueryLimits): LiteralValue {
  if (input === null || typeof input === 'boolean') return input;
  if (typeof input === 'string') return parseText(input, path, limits.maxTextLength);
  if (typeof input === 'bigint' || typeof input === 'number') {
    const double = Number(input);
    if (!Number.isFinite(double)) throw fault('finite_number', path, 'A number literal must be finite');
    return double;
  }
  if (isWrappedStructure(input)) {
    throw fault('structured_literal', path, 'Objects and lists cannot be compared; compare their text');
  }
  throw fault('literal_type', path, 'A literal must be a string, a number, a boolean or null');
}

/** True for `{}`, `[]` and structures of which every value is itself wrapped in `$literal`. */
function isWrappedStructure(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false;
  return Object.values(input).every(value => isObject(value) && Object.hasOwn(value, '$literal'));
}

/** A storable text within the length limit. */
export function parseText(input: unknown, path: ExprPath, maxLength: number): string {
  if (typeof input !== 'string') throw fault('string_type', path, 'Input should be a valid string');
  if (input.length > maxLength)
    throw fault('too_large', path, `Text is longer than ${maxLength} UTF-16 code units`);
  checkStorableText(input, toQueryPath(path));
  return input;
}

/** The target type of `$convert`. */
export function parseTarget(input: unknown, path: ExprPath): ConvertTarget {
  const target = CONVERT_TARGETS.find(name => name === input);
  if (target !== undefined) return target;
  throw fault('literal_error', path, "Input should be 'double', 'string', 'int', 'bool' or 'exists'");
}

/** An optional boolean; false when absent. */
export function parseFlag(input: unknown, path: ExprPath): boolean {
  if (input === undefined) return false;
  const flag = LAX_BOOLEANS.get(typeof input === 'string' ? input.toLowerCase() : input);
  if (flag === undefined) throw fault('bool_type', path, 'Input should be a valid boolean');
  return flag;
}

/** A JSON array of exactly `length` elements. */
export function tupleOf(input: unknown, path: ExprPath, length: number): readonly unknown[] {
  if (!Array.isArray(input)) throw fault('tuple_type', path, 'Input should be a valid tuple');
  if (input.length < length) throw fault('missing', step(path, input.length), 'Field required');
  if (input.length > length) {
    const items = length === 1 ? 'item' : 'items';
    throw fault(
      'too_long',
      path,
      `Tuple should have at most ${length} ${items} after validation, not ${input.length}`,
    );
  }
  return input;
}

/** A JSON array within the limit of list elements. */
export function listOf(input: unknown, path: ExprPath, limits: QueryLimits): readonly unknown[] {
  if (!Array.isArray(input)) throw fault('list_type', path, 'Input should be a valid list');
  if (input.length > limits.maxListLength) {
    throw fault(
      'too_large',
      path,
      `A list has at most ${limits.maxListLength} elements, not ${input.length}`,
    );
  }
  return input;
}

/** A JSON object with all required keys and no unknown key. */
export function namedArguments(
  input: unknown,
  path: ExprPath,
  required: readonly string[],
  optional: readonly string[],
): JsonObject {
  const names = [...required, ...optional];
  if (!isObject(input))
    throw fault('object_type', path, `Input should be an object with ${names.join(', ')}`);
  for (const key of Object.keys(input)) {
    if (!names.includes(key)) {
      throw fault(
        'extra_forbidden',
        step(path, key),
        `Extra inputs are not permitted; keys are ${names.join(', ')}`,
      );
    }
  }
  for (const key of required) {
    if (!Object.hasOwn(input, key)) throw fault('missing', step(path, key), 'Field required');
  }
  return input;
}

/** Whether a value is a JSON object. */
export function isObject(input: unknown): input is JsonObject {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

/** An error at a path of the expression. */
export function fault(code: QueryErrorCode, path: ExprPath, message: string): QueryError {
  return new QueryError(code, toQueryPath(path), message);
}
