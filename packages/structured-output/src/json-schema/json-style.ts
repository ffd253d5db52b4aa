// White space and `oneOf` handling of generated JSON: the `x-guidance` keyword of a schema, which llguidance reads.

import { isMap, type JsonMap, type JsonValue } from '@ortler/json';
import type { JsonStyle } from '../constraint-spec.ts';
import { refuse } from '../refuse.ts';
import { GAP_PATTERN } from '../whitespace/json-whitespace.ts';

/** Whether the JSON is a part of the answer or all of it. */
export type JsonExtent = 'part' | 'whole';

/** Whether the matcher must bound white space: the flexible white space of llguidance is unbounded. */
export function boundsWhitespace({ whitespace = 'bounded' }: JsonStyle, extent: JsonExtent): boolean {
  return extent === 'whole' && whitespace === 'bounded';
}

export interface StyleOptions {
  /** Reads `oneOf` as `anyOf`. */
  readonly coercesOneOf: boolean;
  readonly extent: JsonExtent;
}

/** The schema with the style in it. Throws: `invalid_constraint` when its white space is none of JSON. */
export function withStyle(schema: JsonValue, style: JsonStyle, options: StyleOptions): JsonValue {
  const guidance = toGuidance(style, options);
  if (Object.keys(guidance).length === 0) return schema;
  const open = isMap(schema) ? schema : schema === false ? { not: {} } : {};
  return { 'x-guidance': guidance, ...open };
}

/**
 * `none` writes `{"a":[1,2]}`. A pattern allows white space around commas and colons, and none beside brackets, where this
 * build of llguidance would repeat the pattern. Bounded white space inside a longer answer is such a pattern too, because only
 * the grammar knows where that JSON begins and ends.
 * Throws: `invalid_constraint` when the pattern allows anything that JSON does not ignore.
 */
function toGuidance(style: JsonStyle, { coercesOneOf, extent }: StyleOptions): JsonMap {
  const { whitespace = 'bounded' } = style;
  const oneOf = coercesOneOf ? { coerce_one_of: true } : {};
  if (whitespace === 'any' || boundsWhitespace(style, extent)) return { ...oneOf };
  if (whitespace === 'none') return { ...oneOf, whitespace_flexible: false };
  const space = whitespace === 'bounded' ? GAP_PATTERN : `(?:${checkWhitespacePattern(whitespace.pattern)})`;
  return {
    ...oneOf,
    whitespace_flexible: false,
    item_separator: `${space},${space}`,
    key_separator: `${space}:${space}`,
  };
}

/** The pattern with `\s` narrowed to the white space of JSON. */
function checkWhitespacePattern(pattern: string): string {
  const narrowed = pattern.replaceAll('\\s', '[ \\t\\n\\r]').replaceAll('[[ \\t\\n\\r]]', '[ \\t\\n\\r]');
  const rest = narrowed
    .replace(/\{\d+(?:,\d*)?\}/g, '')
    .replaceAll('(?:', '(')
    .replace(/\\[tnr ]/g, '');
  if (pattern.length > 200 || !/^[ \t\n\r()[\]|*+?]*$/.test(rest))
    refuse('whitespace', 'A whitespace pattern may only match spaces, tabs and line ends');
  return narrowed;
}
