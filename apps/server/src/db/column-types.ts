// Column types that differ between SQLite and PostgreSQL. A migration is written once and receives them.

import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from './database.ts';

export interface ColumnTypes {
  readonly kind: DatabaseKind;
  /** Text that sorts by its bytes in both databases, independent of the server's locale. */
  readonly text: RawBuilder<unknown>;
  /** Whole number within ±(2^53 - 1), read back as a number. */
  readonly integer: RawBuilder<unknown>;
  /** Any double. */
  readonly double: RawBuilder<unknown>;
  /** Suffix of `create table`: SQLite checks types only in strict tables. */
  readonly tableEnd: RawBuilder<unknown>;
}

/** The column types of a database. */
export function columnTypes(kind: DatabaseKind): ColumnTypes {
  return kind === 'sqlite'
    ? { kind, text: sql`text`, integer: sql`integer`, double: sql`real`, tableEnd: sql`strict` }
    : {
        kind,
        text: sql`text collate "C"`,
        integer: sql`bigint`,
        double: sql`double precision`,
        tableEnd: sql``,
      };
}

/** One migration step, written once for both databases. */
export type DatabaseMigration = (db: Kysely<unknown>, types: ColumnTypes) => Promise<void>;
