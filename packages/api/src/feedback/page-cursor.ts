// The cursor of a page as clients carry it: opaque text, which holds the sort values of the last row.

import { type Cursor, QueryError } from '@ortler/feedback-query';

/** The cursor as text that needs no escapes anywhere. */
export function encodeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Throws: `QueryError` `invalid_cursor` for text that no answer gave. */
export function decodeCursor(text: string): Cursor {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw invalidCursor();
  }
  if (!Array.isArray(value) || !value.every(isCursorValue)) throw invalidCursor();
  return value;
}

function isCursorValue(value: unknown): value is Cursor[number] {
  return value === null || typeof value === 'string' || Number.isFinite(value);
}

function invalidCursor(): QueryError {
  return new QueryError('invalid_cursor', ['after'], 'The cursor was not made by this service');
}
