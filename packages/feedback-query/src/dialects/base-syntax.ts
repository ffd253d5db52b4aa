// What every `DialectSyntax` has in common: columns by name, and names for values that are computed once.

import type { Column } from '../bind/fields.ts';
import { TABLE_ALIAS } from '../compile/dialect.ts';
import { type SqlFragment, trustedSql } from '../compile/sql-fragment.ts';

/** Made anew for each query. */
export abstract class NumberingSyntax {
  #nameCount = 0;

  column(column: Column): SqlFragment {
    return trustedSql(`${TABLE_ALIAS}.${column.name}`);
  }

  /** A name that the query does not have yet. */
  protected newName(): SqlFragment {
    this.#nameCount += 1;
    return trustedSql(`v${this.#nameCount}`);
  }
}
