// Tables that a client's query may scan in full. A SQLite reader exposes each of them as a view with a second name,
// which enforces the time limit.

export const GUARDED_TABLES: readonly string[] = ['feedback'];

/** Name of the view that enforces the time limit. */
export function guardedName(table: string): string {
  return `guarded_${table}`;
}
