// Limits of one run: everything that allocates a long value charges the meter first, and everything that may be repeated counts a
// step. The memory limit of a thread is no substitute, because V8 ends the whole process when a single large allocation exceeds it.
// A run is synchronous, so one meter per thread is enough; `runTemplate` resets it.

import { TemplateLimitError } from './template-error.ts';

/** What one run may take. */
export interface RunLimits {
  /** For values that the run makes. Unit: about a byte. Default: 128 MiB. */
  readonly memory?: number;
  /** Unit: milliseconds. Default: no limit. */
  readonly timeMs?: number;
}

/** Unit: about a byte. A long conversation needs a few million. */
const BUDGET = 128 * 1024 * 1024;
/** Cost of a list item with its header. */
const ITEM_COST = 32;

/** Steps between two looks at the clock, each of which takes as long as several short steps. */
const STEPS_PER_LOOK = 64;

let remaining = BUDGET;
let endMs = Number.POSITIVE_INFINITY;
let stepsToLook = STEPS_PER_LOOK;

export function startMeter({ memory = BUDGET, timeMs = Number.POSITIVE_INFINITY }: RunLimits = {}): void {
  remaining = memory;
  endMs = performance.now() + timeMs;
  stepsToLook = STEPS_PER_LOOK;
}

/** For each expression, turn of a loop and comparison. Throws: `TemplateLimitError` when the run exceeds its time. */
export function countStep(): void {
  if (--stepsToLook > 0) return;
  stepsToLook = STEPS_PER_LOOK;
  if (performance.now() > endMs) throw new TemplateLimitError('The template takes too long.');
}

/** For a text of this length. Throws: `TemplateLimitError` when the run exceeds its limit. */
export function chargeText(length: number): void {
  remaining -= length;
  if (!(remaining >= 0)) throw new TemplateLimitError('The template needs too much memory.');
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
