// The answer of the scripted model to a request that runs alone: the oracle for batched answers.

import { RepetitionDetector } from '../src/core/repetition-detector.ts';
import { counterKey } from '../src/core/sampling/counter-random.ts';
import { createLogitsProcessors } from '../src/core/sampling/create-logits-processors.ts';
import { type SampledToken, Sampler } from '../src/core/sampling/sampler.ts';
import { TokenCounts } from '../src/core/sampling/token-counts.ts';
import { findFinish } from '../src/core/step/stop-rules.ts';
import type { SequenceFinish, SubmitMessage } from '../src/protocol/messages.ts';
import { scriptedLogits } from '../src/testing/scripted-model.ts';
import { TEXT, VOCAB_SIZE } from './core-schedules.ts';

export interface Answer {
  readonly tokenIds: readonly number[];
  /** Empty when none are asked for. */
  readonly logprobs: readonly NonNullable<SampledToken['logprobs']>[];
  readonly finish: SequenceFinish;
}

/** The expected tokens of a choice, computed one at a time without cache, batch, draft or schedule. */
export function expectedAnswer(request: SubmitMessage, choiceIndex: number): Answer {
  const known = EXPECTED.get(request) ?? [];
  EXPECTED.set(request, known);
  known[choiceIndex] ??= computeAnswer(request, choiceIndex);
  return known[choiceIndex];
}

/** By request and choice: several checks ask for the same. */
const EXPECTED = new WeakMap<SubmitMessage, Answer[]>();

function computeAnswer(request: SubmitMessage, choiceIndex: number): Answer {
  const sampler = new Sampler(VOCAB_SIZE);
  const history = [...request.promptTokenIds];
  const output: number[] = [];
  const allLogprobs: Answer['logprobs'][number][] = [];
  const tokenCounts = new TokenCounts();
  const processors = createLogitsProcessors(request);
  for (;;) {
    const { tokenId, logprobs } = sampler.sample(scriptedLogits(history, VOCAB_SIZE, TEXT), {
      params: request.sampling,
      randomKey: counterKey(request.sampling.seed + BigInt(choiceIndex)),
      position: output.length,
      processors,
      output: { outputTokenIds: output, tokenCounts },
      topLogprobCount: request.logprobs?.topCount,
    });
    tokenCounts.add(tokenId);
    output.push(tokenId);
    history.push(tokenId);
    if (logprobs !== undefined) allLogprobs.push(logprobs);
    const isRepeating = endsInLoop(output, request);
    const finish = findFinish(request, {
      tokenId,
      outputLength: output.length,
      isRepeating,
      answer: 'open',
    });
    if (finish !== undefined) return { tokenIds: output, logprobs: allLogprobs, finish };
  }
}

function endsInLoop(output: readonly number[], { repetitionDetection, maxTokens }: SubmitMessage): boolean {
  if (repetitionDetection === undefined) return false;
  const detector = new RepetitionDetector(repetitionDetection, maxTokens);
  for (let length = 1; length <= output.length; length++) detector.add(output.slice(0, length));
  return detector.isRepeating;
}
