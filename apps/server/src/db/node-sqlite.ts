// Lets Kysely's SQLite dialect drive `node:sqlite`.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { SqliteDatabase } from 'kysely';

/** The driver's view of an open database. */
export function toKyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      // Parameters are spread: an array or a Date as the only argument would be read as named parameters.
      const values = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: parameters => statement.all(...values(parameters)),
        run: parameters => statement.run(...values(parameters)),
        iterate: parameters => statement.iterate(...values(parameters)),
      };
    },
  };
}
