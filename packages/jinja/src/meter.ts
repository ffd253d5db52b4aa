// Memory limit of one run: everything that allocates a long value charges the meter first. The memory limit of a thread is no
// substitute, because V8 ends the whole process when a single large allocation exceeds it.
// A run is synchronous, so one meter per thread is enough; `runTemplate` resets it.

import { TemplateError } from './template-error.ts';

/** Unit: about a byte. A long conversation needs a few million. */
const BUDGET = 128 * 1024 * 1024;
/** Cost of a list item with its header. */
const ITEM_COST = 32;

let remaining = BUDGET;

export function startMeter(): void {
  remaining = BUDGET;
}

/** For a text of this length. Throws: `TemplateError` when the run exceeds its limit. */
export function chargeText(length: number): void {
  remaining -= length;
  if (!(remaining >= 0)) throw new TemplateError('The template needs too much memory.');
}

/** For a list of this length. */
export function chargeItems(count: number): void {
  chargeText(count * ITEM_COST);
}

/** For a text joined from parts. */
export function chargeJoin(parts: readonly string[], separatorLength = 0): void {
  let length = separatorLength * parts.length;
  for (const part of parts) length += part.length;
  chargeText(length);
}
