// How many random cases a property test tries. The tests of every package import this by the name `test-runs`
// (tsconfig.base.json, vitest.config.ts).

/** `full`: the counts of continuous integration. A number: that many times those, for a long search. */
const ASKED = process.env.TEST_RUNS;

/** Whether everything that continuous integration proves is asked for. Absent: a daily run, with fewer cases. */
export const IS_FULL_RUN = ASKED !== undefined;

const FACTOR = ASKED === undefined || ASKED === 'full' ? 1 : Number(ASKED);
if (!(FACTOR >= 1)) throw new Error(`TEST_RUNS must be "full" or a number from 1; got "${ASKED}".`);

export interface RunCounts {
  /** Enough to catch what usually breaks. */
  readonly daily: number;
  /** Enough to find what is rare. */
  readonly full: number;
}

/** The number of cases for this run. */
export function runs({ daily, full }: RunCounts): number {
  return IS_FULL_RUN ? Math.ceil(full * FACTOR) : daily;
}
