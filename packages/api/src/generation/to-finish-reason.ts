// How a choice ended, as a finish reason of the wire.

import type { FinishReason } from '@ortler/engine';
import type { FinishReason as WireFinishReason } from '@ortler/schemas';

export const toFinishReason = (reason: FinishReason): WireFinishReason =>
  reason === 'tool-calls' ? 'tool_calls' : reason;
