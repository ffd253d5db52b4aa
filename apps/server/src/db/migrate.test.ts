// Migrations where the schema is not alone in its database. On PGlite: schemas are PostgreSQL's own matter.

import { Kysely, PGliteDialect, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DATABASE_HOOK_TIMEOUT_MS } from '../../test/databases.ts';
import { borrowPglite, type LentPglite } from '../../test/pglite-pool.ts';
import { migrate } from './migrate.ts';
import type { Tables } from './tables.ts';

const reason = process.env.TEST_DATABASES === 'sqlite' ? ' (skipped: TEST_DATABASES=sqlite)' : '';

describe.skipIf(reason !== '')(`migrations beside other schemas${reason}`, () => {
  let lent: LentPglite;
  let db: Kysely<Tables>;
  beforeEach(async () => {
    lent = await borrowPglite();
    db = new Kysely<Tables>({ dialect: new PGliteDialect({ pglite: lent.pglite }) });
    await lent.pglite.exec('create schema other');
  }, DATABASE_HOOK_TIMEOUT_MS);
  afterEach(async () => {
    await lent.pglite.exec('drop schema other cascade');
    await lent.giveBack();
  }, DATABASE_HOOK_TIMEOUT_MS);

  const keyTables = async () => {
    const { rows } = await sql<{ readonly schema: string }>`
      select schemaname as schema from pg_tables where tablename = 'api_keys' order by 1`.execute(db);
    return rows.map(({ schema }) => schema);
  };
  const addOtherProgram = (schema: string) =>
    lent.pglite.exec(`create table ${schema}.kysely_migration (name varchar primary key, timestamp varchar not null);
      create table ${schema}.kysely_migration_lock (id varchar primary key, is_locked integer not null default 0);
      insert into ${schema}.kysely_migration values ('2020-shop', '2020-01-01')`);

  it('leave the migrations of another program in its schema alone', async () => {
    await addOtherProgram('other');
    await migrate(db, 'postgres');
    await migrate(db, 'postgres');
    expect(await keyTables()).toEqual(['public']);
  });

  it('say whose table it is where another program uses the same schema', async () => {
    await addOtherProgram('public');
    await expect(migrate(db, 'postgres')).rejects.toThrow('is that of another program (2020-shop)');
  });

  it('create tables in each schema of a search_path of its own', async () => {
    await migrate(db, 'postgres');
    await lent.pglite.exec('set search_path to other');
    await migrate(db, 'postgres');
    expect(await keyTables()).toEqual(['other', 'public']);
  });

  it('find the tables of an earlier start behind a schema that was created since', async () => {
    await migrate(db, 'postgres');
    await lent.pglite.exec('set search_path to other, public');
    await migrate(db, 'postgres');
    expect(await keyTables()).toEqual(['public']);
  });

  it('name the search_path that leads nowhere', async () => {
    await lent.pglite.exec('set search_path to nowhere');
    await expect(migrate(db, 'postgres')).rejects.toThrow('no schema of its search_path exists');
  });
});
