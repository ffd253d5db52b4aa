// Creates the logits processors of a request, in their order. Made once per request, so that a row pays only for what its
// request uses. Caller: `../sequence.ts`.

import type { SubmitMessage } from '../../protocol/messages.ts';
import type { LogitsProcessor } from './logits-processor.ts';
import { allowTokens, banEnds, banWords } from './processors/banned-tokens.ts';
import { biasTokens } from './processors/logit-bias.ts';
import { penalizeCounts, penalizeRepetition } from './processors/penalties.ts';

/** The logits processors of a request, in the order that `Sampler.sample` documents. */
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
