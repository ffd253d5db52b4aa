// Answers a feedback query: binds it, runs it, and puts the JSON text of its rows between the other fields.

import { bindFeedbackQuery } from '@ortler/feedback-query';
import type { FeedbackQueryRequest } from '@ortler/schemas';
import type { FeedbackStore } from '../ports/feedback-services.ts';
import { ApiError } from '../trpc/errors.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';

/** Largest answer; one row may exceed it. Unit: bytes. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * Returns the UTF-8 of a `feedbackQueryResult`, in parts: rows of megabytes are not copied.
 * Throws: `answer_too_large` when the rows of a request with a `limit` but without a cursor exceed `MAX_ANSWER_BYTES`: its
 * caller would take a shorter page for the last one.
 */
export async function answerQuery(
  feedback: Pick<FeedbackStore, 'query'>,
  request: FeedbackQueryRequest,
  signal: AbortSignal,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const after = request.after == null ? null : decodeCursor(request.after);
  const withCursor = request.with_cursor === true || after !== null;
  // Without a limit the server's own ones may cut the answer, and the cursor says that they did.
  const mayBeCut = request.limit == null;
  const query = bindFeedbackQuery({
    projectId: request.project_id,
    fields: request.fields ?? null,
    query: request.query,
    sortBy: request.sort_by ?? null,
    limit: request.limit ?? null,
    offset: request.offset ?? null,
    after,
    withCursor: withCursor || mayBeCut,
  });
  const { rows, rowCount, isCut, lastCursor } = await feedback.query(query, {
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  });
  if (isCut && !withCursor && !mayBeCut)
    throw new ApiError(
      'answer_too_large',
      `The ${request.limit} rows are larger than ${MAX_ANSWER_BYTES} bytes; ask for fewer rows or fields, or with with_cursor: true for pages.`,
      { param: 'limit' },
    );
  // A page that is neither full nor cut is the last one.
  const isLast = (!isCut && rowCount < query.limit) || lastCursor === null;
  if (!withCursor && (isLast || !mayBeCut)) return [encode('{"result":'), rows, encode('}')];
  const nextAfter = isLast ? null : encodeCursor(lastCursor);
  return [encode('{"result":'), rows, encode(`,"next_after":${JSON.stringify(nextAfter)}}`)];
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
