// Pagination cursors in the wire format: opaque base64url text of the sort values of the last row.

import { type Cursor, QueryError } from '@ortler/feedback-query';

/** The cursor as base64url text, which needs no escapes. */
export function encodeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Throws: `QueryError` `invalid_cursor` for text that is not an encoded cursor. */
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
