// What one run of a template may make in all. A thread's memory limit is no safe bound: V8 ends the whole
// process when one large allocation meets it. So whatever makes long values charges for them first.
// A run is synchronous, so one meter per thread is enough; `runTemplate` starts it anew.

import { TemplateError } from './template-error.ts';

/** Unit: about a byte. A long conversation needs a few million. */
const BUDGET = 128 * 1024 * 1024;
/** What an item of a list costs with its own header. */
const ITEM_COST = 32;

let remaining = BUDGET;

export function startMeter(): void {
  remaining = BUDGET;
}

/** For a text of this length. Throws: `TemplateError` when the run has made too much. */
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
