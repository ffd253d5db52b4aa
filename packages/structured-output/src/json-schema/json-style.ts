// White space and `oneOf` handling of generated JSON: the `x-guidance` keyword of a schema, which llguidance reads.

import { isMap, type JsonMap, type JsonValue } from '@ortler/json';
import type { AnswerShape } from '../answer-shape.ts';
import type { JsonStyle } from '../constraint-spec.ts';
import { GAP_AFTER_PATTERN, GAP_PATTERN } from '../json-form/gap-rules.ts';
import { type JsonForm, NUMBER_LIMITS } from '../json-form.ts';
import { refuse } from '../refuse.ts';

/** Whether the JSON is a part of the answer or all of it. */
export type JsonExtent = 'part' | 'whole';

/** The form that the matcher keeps of the JSON in an answer. */
export function toJsonForm(
  style: JsonStyle,
  { hasLongNumbers, shape }: { readonly hasLongNumbers: boolean; readonly shape?: AnswerShape },
): JsonForm {
  const { whitespace = 'canonical', limitNumbers = true, guardRepetition: guardsRepetition = true } = style;
  // Inside a longer answer the grammar has no more white space than the bounded layout.
  const isKept = whitespace === 'canonical' || (whitespace === 'bounded' && shape === undefined);
  const layout = isKept ? whitespace : 'free';
  const numbers = limitNumbers && !hasLongNumbers ? NUMBER_LIMITS : null;
  return { layout, numbers, guardsRepetition, ...(shape !== undefined && { shape }) };
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
 * build of llguidance would repeat the pattern. Canonical and bounded white space inside a longer answer is such a pattern
 * too, of which the matcher narrows the canonical one. Of a whole answer the matcher keeps both, because the
 * flexible white space of llguidance is unbounded.
 * Throws: `invalid_constraint` when the pattern allows anything that JSON does not ignore.
 */
function toGuidance(style: JsonStyle, { coercesOneOf, extent }: StyleOptions): JsonMap {
  const { whitespace = 'canonical' } = style;
  const oneOf = coercesOneOf ? { coerce_one_of: true } : {};
  const isKept = extent === 'whole' && (whitespace === 'canonical' || whitespace === 'bounded');
  if (whitespace === 'any' || isKept) return { ...oneOf };
  if (whitespace === 'none') return { ...oneOf, whitespace_flexible: false };
  if (whitespace === 'canonical')
    return {
      ...oneOf,
      whitespace_flexible: false,
      item_separator: `,${GAP_AFTER_PATTERN}`,
      key_separator: ': ?',
    };
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
