import { describe, expect, it } from 'vitest';
import { sessionOptions } from './session-options.ts';

const OURS = [
  '-c default_transaction_isolation=read\\ committed',
  '-c idle_in_transaction_session_timeout=15000',
  '-c extra_float_digits=1',
].join(' ');

describe('options of a PostgreSQL connection', () => {
  it('are those of the server alone for a plain address', () => {
    expect(sessionOptions('postgres://me:p%40ss@host:5/db?sslmode=disable', {}, {})).toEqual({
      connectionString: 'postgres://me:p%40ss@host:5/db?sslmode=disable',
      options: OURS,
    });
  });

  it('keep those of the address, and those of the environment where it has none', () => {
    const environment = { PGOPTIONS: '-c search_path=b' };
    expect(sessionOptions('postgres://host/db?options=-c%20search_path%3Da', {}, environment)).toEqual({
      connectionString: 'postgres://host/db',
      options: `-c search_path=a ${OURS}`,
    });
    expect(sessionOptions('postgres://host/db', {}, environment).options).toBe(`-c search_path=b ${OURS}`);
  });

  it('end with those of the pool', () => {
    expect(sessionOptions('postgres://host/db', { default_transaction_read_only: 'on' }, {}).options).toBe(
      `${OURS} -c default_transaction_read_only=on`,
    );
  });
});
