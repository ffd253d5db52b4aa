// SQL that several dialects share: columns by name, generated names, and boolean flags written with CASE.

import type { Column } from '../bind/columns.ts';
import { TABLE_ALIAS } from '../compile/dialect.ts';
import { clauses, fragment, type SqlFragment, trustedSql } from '../compile/sql-fragment.ts';

/** Base class of every `DialectSyntax`; one instance per query. */
export abstract class BaseSyntax {
  #nameCount = 0;

  column(column: Column): SqlFragment {
    return trustedSql(`${TABLE_ALIAS}.${column.name}`);
  }

  readonly listsNumbersByBits: boolean = false;

  interruptionPoint(): SqlFragment | null {
    return null;
  }

  /** A name that is unique within the query. */
  protected newName(): SqlFragment {
    this.#nameCount += 1;
    return trustedSql(`v${this.#nameCount}`);
  }
}

/** 1 and 0 for the texts true and false, else the flag of the number. For SQLite and PostgreSQL. */
export function flagOf(text: SqlFragment, numberFlag: SqlFragment): SqlFragment {
  return clauses(
    fragment`CASE ${text}`,
    fragment`WHEN 'true' THEN 1`,
    fragment`WHEN 'false' THEN 0`,
    fragment`ELSE ${numberFlag} END`,
  );
}

/** A whole number from 0 to 255, else null. For SQLite and PostgreSQL. */
export function byteOf(value: SqlFragment): SqlFragment {
  return clauses(
    fragment`CASE WHEN ${value} BETWEEN 0 AND 255`,
    fragment`AND ${value} = trunc(${value})`,
    fragment`THEN ${value} END`,
  );
}
