// Final check of a finished text whose schema the grammar does not enforce in full.

import { type JsonValue, parseJson } from '@ortler/json';
import { ConstraintError } from '../errors.ts';
import { findViolation } from './find-violation.ts';

/** Throws: `unsatisfied` naming the keyword of the schema that the text breaks, and the place in the text. */
export function checkFinishedText(schema: string, text: string): void {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new ConstraintError('unsatisfied', 'The generated text is not whole JSON.', { cause });
  }
  const violation = findViolation(parseJson(schema), value);
  if (violation === null) return;
  throw new ConstraintError(
    'unsatisfied',
    `The generated text breaks the keyword ${violation.keyword} of its schema (at ${violation.place}), which cannot be enforced while it is generated.`,
  );
}
