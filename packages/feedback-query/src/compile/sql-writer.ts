// A Kysely without a database, which only writes SQL. One per dialect is enough.
import { DummyDriver, Kysely, SqliteIntrospector } from 'kysely';
import type { QueryDialect } from './dialect.ts';

/** Tables of any name with expressions of our own; column types play no part. */
export type AnyTables = Record<string, Record<string, never>>;

const writers = new Map<QueryDialect, Kysely<AnyTables>>();

/** The writer of a dialect; its queries can be compiled, not run. */
export function sqlWriter(dialect: QueryDialect): Kysely<AnyTables> {
  let writer = writers.get(dialect);
  if (writer === undefined) {
    writer = new Kysely<AnyTables>({
      dialect: {
        createAdapter: dialect.createAdapter,
        createDriver: () => new DummyDriver(),
        createIntrospector: db => new SqliteIntrospector(db),
        createQueryCompiler: dialect.createQueryCompiler,
      },
    });
    writers.set(dialect, writer);
  }
  return writer;
}
