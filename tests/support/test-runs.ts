// How many random cases a property test tries. The tests of every package import this by the name `test-runs`
// (tsconfig.base.json, vitest.config.ts).

/** `full`: the counts of continuous integration. A number: that many times those, for a long search. */
const ASKED = process.env.TEST_RUNS;

/** Whether this run proves as much as continuous integration; a daily run, without TEST_RUNS, tries fewer cases. */
export const IS_FULL_RUN = ASKED !== undefined;

const FACTOR = ASKED === undefined || ASKED === 'full' ? 1 : Number(ASKED);
if (!(FACTOR >= 1)) throw new Error(`TEST_RUNS must be "full" or a number from 1; got "${ASKED}".`);

/** Whether this run searches longer than continuous integration: it also has the slow combinations. */
export const IS_LONG_RUN = FACTOR > 1;

export interface RunCounts {
  /** Enough to catch the usual mistake. */
  readonly daily: number;
  /** Enough to find a rare mistake. */
  readonly full: number;
}

/** The number of cases for this run. */
export function runs({ daily, full }: RunCounts): number {
  return IS_FULL_RUN ? Math.ceil(full * FACTOR) : daily;
}
