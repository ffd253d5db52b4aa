// Number of random cases per database. TEST_CASE_COUNT sets another number, for long runs:
// `TEST_CASE_COUNT=20000 npx vitest run --project unit packages/feedback-query/test`. Hostile input gets half of it.

export interface CaseCounts {
  /** Random expressions. */
  readonly expressions: number;
  /** Hostile texts and keys each. */
  readonly hostile: number;
}

/** The usual counts, or those of the environment. */
export function caseCounts(usual: CaseCounts): CaseCounts {
  const asked = process.env.TEST_CASE_COUNT;
  return asked === undefined ? usual : { expressions: Number(asked), hostile: Math.ceil(Number(asked) / 2) };
}
