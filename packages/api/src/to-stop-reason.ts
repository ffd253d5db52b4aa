// What a stop reason is on the wire, decided once for chats and completions.

import type { ChoiceFinishEvent } from '@ortler/engine';

/** The stop text, the stop token, what was detected, or null for the model's own end and other reasons. */
export function toStopReason({
  finishReason,
  stopReason,
}: Pick<ChoiceFinishEvent, 'finishReason' | 'stopReason'>): string | number | null {
  return finishReason === 'repetition' ? 'repetition_detected' : stopReason;
}
