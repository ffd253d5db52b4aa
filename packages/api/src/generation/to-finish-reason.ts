// How a choice ended, as a finish reason of the wire.

import type { FinishReason } from '@ortler/schemas';
import type { ReplyFinish } from '../chat/reply-delta.ts';

export function toFinishReason(reason: ReplyFinish['reason']): FinishReason {
  if (reason === 'tool-calls') return 'tool_calls';
  return reason === 'content-filter' ? 'content_filter' : reason;
}
