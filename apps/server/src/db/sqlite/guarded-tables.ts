// Tables that a client's query may scan in full. A SQLite reader exposes each of them as views with other names, which
// enforce the time limit and notice that the caller has left.

/** Functions of a reader that may stop the running statement: a check that gives 1, and a search in a text, as `instr`. */
export const READER_FUNCTIONS = { check: 'within_time_limit', search: 'find_text' } as const;

export const GUARDED_TABLES: readonly string[] = ['feedback'];

/**
 * A view checks once in this many rows; powers of two, so that the check is one bit mask. Most queries cost microseconds per
 * row and would notice a check of each; one with hundreds of comparisons of a large payload costs half a second per row.
 */
export const GUARDS = { guarded: 16, closely_guarded: 1 } as const;

export type Guard = keyof typeof GUARDS;

/** Queries with more parameters are guarded closely. */
const CHEAP_PARAMETER_COUNT = 16;

/** The guard for a query with this many parameters: each is at least one comparison per row. */
export function guardFor(parameterCount: number): Guard {
  return parameterCount > CHEAP_PARAMETER_COUNT ? 'closely_guarded' : 'guarded';
}

/** Name of the view that enforces the time limit. */
export function guardedName(table: string, guard: Guard = 'guarded'): string {
  return `${guard}_${table}`;
}
