// Column types that differ between the databases. Migrations are written once and take the types from here.

import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from './database.ts';

export interface ColumnTypes {
  readonly kind: DatabaseKind;
  /** Text that orders by its bytes in both databases, whatever the locale of the server. */
  readonly text: RawBuilder<unknown>;
  /** Whole number within ±(2^53 - 1), read back as a number. */
  readonly integer: RawBuilder<unknown>;
  /** Any double. */
  readonly double: RawBuilder<unknown>;
  /** Goes behind `create table`: SQLite checks types only in strict tables. */
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
