// How a choice ended, as a finish reason of the wire.

import type { ChoiceFinish, FinishReason } from '@ortler/engine';
import type { FinishReason as WireFinishReason } from '@ortler/schemas';

/** How a choice ended. No engine filters content, but other servers do. */
export interface ReplyFinish extends Omit<ChoiceFinish, 'reason'> {
  readonly reason: FinishReason | 'content-filter';
}

export function toFinishReason(reason: ReplyFinish['reason']): WireFinishReason {
  if (reason === 'tool-calls') return 'tool_calls';
  return reason === 'content-filter' ? 'content_filter' : reason;
}
