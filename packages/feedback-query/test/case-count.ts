// How many random expressions a database is tried with. TEST_CASE_COUNT asks for another number, for long runs:
// `TEST_CASE_COUNT=20000 npx vitest run --project unit packages/feedback-query/test`.

/** The usual count, or the one of the environment. */
export function caseCount(usual: number): number {
  const asked = process.env.TEST_CASE_COUNT;
  return asked === undefined ? usual : Number(asked);
}
