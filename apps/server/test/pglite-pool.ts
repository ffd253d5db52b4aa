// PGlite databases that the test files of one worker use one after the other: starting PostgreSQL in WebAssembly takes more
// than a second, a new schema in a running one a few milliseconds. Databases that are open at the same time never share
// an instance.

import { PGlite, types } from '@electric-sql/pglite';
import { toSafeInteger } from '../src/db/postgres/open-postgres.ts';

const free: PGlite[] = [];

export interface LentPglite {
  readonly pglite: PGlite;
  /** Removes everything in the database and lends the instance to others. */
  giveBack(): Promise<void>;
}

/** A database without tables. */
export async function borrowPglite(): Promise<LentPglite> {
  const pglite = free.pop() ?? (await PGlite.create({ parsers: { [types.INT8]: toSafeInteger } }));
  return {
    pglite,
    async giveBack() {
      await pglite.exec('drop schema public cascade; create schema public');
      await pglite.exec('discard all');
      free.push(pglite);
    },
  };
}
