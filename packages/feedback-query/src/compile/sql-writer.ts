// A Kysely instance without a database that only compiles SQL; one per dialect.
import { DummyDriver, Kysely, SqliteIntrospector } from 'kysely';
import type { QueryDialect } from './dialect.ts';

/** Any table name; column types are not used. */
export type AnyTables = Record<string, Record<string, never>>;

const writers = new Map<QueryDialect, Kysely<AnyTables>>();

/** The Kysely instance of a dialect. Its queries can be compiled, not run. */
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
