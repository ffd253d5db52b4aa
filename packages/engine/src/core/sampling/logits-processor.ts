// The interface of the row edits that come before the draw, and the list of those that a request asks for. Made
// once per request, so that a row pays only for what its request uses.

import type { SubmitMessage } from '../../link/messages.ts';
import { allowTokens } from './processors/allowed-tokens.ts';
import { banWords } from './processors/bad-words.ts';
import { penalizeCounts } from './processors/frequency-presence-penalty.ts';
import { biasTokens } from './processors/logit-bias.ts';
import { banEnds } from './processors/min-tokens.ts';
import { penalizeRepetition } from './processors/repetition-penalty.ts';
import type { TokenCounts } from './token-counts.ts';
import type { TokenEdits } from './token-edits.ts';

/** What a processor may know of the sequence whose next token is drawn. */
export interface OutputView {
  readonly outputTokenIds: readonly number[];
  /** Null where the request has no penalties. */
  readonly tokenCounts: TokenCounts | null;
}

/** One kind of edit of a row. */
export interface LogitsProcessor {
  /** Edits a row of logits, in float32 as the row is. Shape: `[vocabSize]`. Mutates: the row. */
  edit(logits: Float32Array, output: OutputView): void;
  /** Says what `edit` would do, token by token. Mutates: `edits`. */
  describe(edits: TokenEdits, output: OutputView): void;
}

/** What a request asks for, in the order that `Sampler.sample` documents. */
export function createLogitsProcessors(request: SubmitMessage): readonly LogitsProcessor[] {
  const { sampling, badTokenSequences = [], minTokens, minTokensBannedIds, promptTokenIds } = request;
  const { allowedTokenIds, logitBias = [], repetitionPenalty, frequencyPenalty, presencePenalty } = sampling;
  const processors: LogitsProcessor[] = [];
  if (allowedTokenIds !== undefined) processors.push(allowTokens(allowedTokenIds));
  if (badTokenSequences.length > 0) processors.push(banWords(badTokenSequences));
  if (minTokens > 0) processors.push(banEnds(minTokensBannedIds, minTokens));
  if (logitBias.length > 0) processors.push(biasTokens(logitBias));
  if (repetitionPenalty !== 1) processors.push(penalizeRepetition(promptTokenIds, repetitionPenalty));
  if (frequencyPenalty !== 0 || presencePenalty !== 0) {
    processors.push(penalizeCounts(frequencyPenalty, presencePenalty));
  }
  return processors;
}

/** Whether the sequences of the request must count their tokens. */
export function needsTokenCounts({ sampling }: SubmitMessage): boolean {
  const { repetitionPenalty, frequencyPenalty, presencePenalty } = sampling;
  return repetitionPenalty !== 1 || frequencyPenalty !== 0 || presencePenalty !== 0;
}
