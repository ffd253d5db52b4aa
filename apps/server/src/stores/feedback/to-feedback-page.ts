// A page of the database as the page of the port.

import type { FeedbackPage } from '@ortler/api';
import type { CompiledFeedbackQuery } from '@ortler/feedback-query';
import type { JsonPage } from '../../db/json-page.ts';

export function toFeedbackPage(
  { text, rowCount, isCut, lastRow }: JsonPage,
  toCursor: CompiledFeedbackQuery['toCursor'],
): FeedbackPage {
  return { rows: text, rowCount, isCut, lastCursor: lastRow === null ? null : toCursor(lastRow) };
}
