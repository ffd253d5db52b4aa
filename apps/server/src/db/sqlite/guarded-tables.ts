// Tables whose rows a client may have scanned at will. A reading SQLite thread offers each of them under a second
// name that obeys the time limit.

export const GUARDED_TABLES: readonly string[] = ['feedback'];

/** Name under which a reader sees a table with the time limit. */
export function guardedName(table: string): string {
  return `guarded_${table}`;
}
