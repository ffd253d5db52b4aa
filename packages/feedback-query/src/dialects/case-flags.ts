// Flags in databases that write conditions with CASE: SQLite and PostgreSQL.

import { fragment, type SqlFragment } from '../compile/sql-fragment.ts';

/** 1 and 0 for the texts true and false, else the flag that a number gives. */
export function flagOf(text: SqlFragment, numberFlag: SqlFragment): SqlFragment {
  return fragment`CASE ${text} WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE ${numberFlag} END`;
}

/** A whole number of one byte, else null. */
export function byteOf(value: SqlFragment): SqlFragment {
  return fragment`CASE WHEN ${value} BETWEEN 0 AND 255 AND ${value} = trunc(${value}) THEN ${value} END`;
}
