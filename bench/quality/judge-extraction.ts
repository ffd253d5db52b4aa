// The judgement of one answer to a keyed extraction: its form by the JSON Schema evaluator, its content by the key.

import type { JsonSchemaChecker } from '@ortler/structured-output';
import type { Answer } from './answer.ts';
import type { KeyedExtraction } from './keyed-extractions.ts';

export interface JudgedExtraction {
  readonly isValid: boolean;
  /** Leaves of the answer at places where the key has none. */
  readonly extraCount: number;
  /** Leaves of the key, and those that the answer has at the same place. */
  readonly valueCount: number;
  readonly rightCount: number;
}

export async function judgeExtraction(
  { text }: Pick<Answer, 'text'>,
  { schema, key }: Pick<KeyedExtraction, 'schema' | 'key'>,
  checker: JsonSchemaChecker,
): Promise<JudgedExtraction> {
  const expected = leavesOf(key);
  const nothing = { isValid: false, extraCount: 0, valueCount: expected.size, rightCount: 0 };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return nothing;
  }
  const found = leavesOf(value);
  const right = [...expected].filter(([place, leaf]) => found.get(place) === leaf);
  return {
    ...nothing,
    isValid: (await checker.findViolation(JSON.stringify(schema), text)) === null,
    extraCount: [...found.keys()].filter(place => !expected.has(place)).length,
    rightCount: right.length,
  };
}

/** Numbers, booleans and texts by their path. Texts are compared without letter case and surrounding blanks. */
function leavesOf(value: unknown, place = '', leaves = new Map<string, unknown>()): Map<string, unknown> {
  if (typeof value === 'object' && value !== null)
    for (const [name, item] of Object.entries(value)) leavesOf(item, `${place}/${name}`, leaves);
  else leaves.set(place, typeof value === 'string' ? value.trim().toLowerCase() : value);
  return leaves;
}
