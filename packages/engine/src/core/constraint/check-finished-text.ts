// The last look at a finished text whose grammar did not say everything.

import { EngineError } from '../../errors.ts';
import { findViolation } from './json-schema/find-violation.ts';
import { type JsonValue, parseJson } from './json-schema/json-value.ts';

/** Throws: `constraint_failed` naming the keyword of the schema that the text breaks, and the place in the text. */
export function checkFinishedText(schema: string, text: string): void {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new EngineError('constraint_failed', 'The generated text is not whole JSON.', { cause });
  }
  const violation = findViolation(parseJson(schema), value);
  if (violation === null) return;
  throw new EngineError(
    'constraint_failed',
    `The generated text breaks the keyword ${violation.keyword} of its schema (at ${violation.place}), which cannot be enforced while it is generated.`,
  );
}
