// Why an answer ended, in the AI SDK's words; `raw` keeps the engine's.

import type { LanguageModelV4FinishReason } from '@ai-sdk/provider';
import type { FinishReason } from '@ortler/engine';

type Unified = LanguageModelV4FinishReason['unified'];

const UNIFIED: Readonly<Record<FinishReason, Unified>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool-calls',
  // The engine ended the request, so the answer may be incomplete.
  abort: 'interrupted',
  // A loop that repetition detection found.
  repetition: 'other',
  error: 'error',
};

/** The stream broke while the model answered. */
export const FAILED: LanguageModelV4FinishReason = { unified: 'error', raw: undefined };

export function toFinishReason(reason: FinishReason | undefined): LanguageModelV4FinishReason {
  return { unified: reason === undefined ? 'interrupted' : UNIFIED[reason], raw: reason };
}
