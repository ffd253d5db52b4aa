// The sampling part of a step: rows of logits in, what each row of the plan gave out. Afterwards every sequence is as it was.
// Caller: `../engine-core.ts`, between the model call and the commit.

import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { PlannedRow, StepPlan } from '../scheduler/step-plan.ts';
import type { Sequence } from '../sequence.ts';
import type { TokenMask } from '../token-mask.ts';
import type { SampledToken, Sampler, SamplingStep } from './sampler.ts';

export interface SampledRow {
  /** New tokens of the sequence, in order: at most one more than the row's draft has. Empty for a row that draws none. */
  readonly tokens: readonly SampledToken[];
  /** Of the prompt tokens that follow the row's tokens, from position `computedLength + 1` on; only when asked for. */
  readonly promptLogprobs: readonly TokenLogprobs[];
}

const NOTHING: readonly never[] = [];

/**
 * One entry for each row of the plan, in its order: what the row gave, or why it could not give it, as a fault of one
 * row is no fault of the others. Shape: `logits` is `[sum of logitsCount, vocabSize]`; `masks` has what each row may
 * draw, first and behind the tokens of its draft, or why that is not known. Mutates: `logits`.
 */
export function sampleStep(
  sampler: Sampler,
  plan: StepPlan,
  logits: Float32Array,
  masks: readonly (readonly TokenMask[] | Error | null)[],
): (SampledRow | Error)[] {
  let start = 0;
  return plan.rows.map((row, index) => {
    const end = start + row.logitsCount * sampler.vocabSize;
    const rowLogits = logits.subarray(start, end);
    start = end;
    const rowMasks = masks[index]!;
    if (rowMasks instanceof Error) return rowMasks;
    try {
      const promptLogprobs = readPromptLogprobs(sampler, row, rowLogits);
      const tokens = row.drawsToken ? drawTokens(sampler, row, rowLogits, rowMasks) : NOTHING;
      return { promptLogprobs, tokens };
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  });
}

/**
 * The row's last logits decide its next tokens, one after the other, each as if it were alone in its step. As long as
 * the token that is drawn is the drafted one, the logits behind the draft are those of the true text. A constrained row
 * has a mask for each of them, up to where its constraint can follow the draft.
 */
function drawTokens(
  sampler: Sampler,
  row: PlannedRow,
  logits: Float32Array,
  masks: readonly TokenMask[] | null,
): SampledToken[] {
  const { sequence, draftLength, tokenIds } = row;
  const { vocabSize } = sampler;
  const outputLength = sequence.outputTokenIds.length;
  const maskAt = (index: number) => (masks === null ? null : masks[index]!);
  const tokens = [drawToken(sampler, sequence, rowFromEnd(logits, draftLength, vocabSize), maskAt(0))];
  const reach = masks === null ? draftLength : masks.length - 1;
  try {
    for (let index = 0; index < reach; index++) {
      const { tokenId } = tokens[index]!;
      if (tokenId !== tokenIds[tokenIds.length - draftLength + index]) break;
      sequence.tryToken(tokenId);
      const row = rowFromEnd(logits, draftLength - index - 1, vocabSize);
      tokens.push(drawToken(sampler, sequence, row, maskAt(index + 1)));
    }
  } catch {
    // The next step begins at this very token and meets the same fault: until then the tokens before it are good.
  } finally {
    while (sequence.outputTokenIds.length > outputLength) sequence.untryToken();
  }
  return tokens;
}

/** The row of logits with `behind` rows after it. */
function rowFromEnd(logits: Float32Array, behind: number, vocabSize: number): Float32Array {
  const end = logits.length - behind * vocabSize;
  return logits.subarray(end - vocabSize, end);
}

function drawToken(
  sampler: Sampler,
  sequence: Sequence,
  logits: Float32Array,
  mask: TokenMask | null,
): SampledToken {
  return sampler.sample(logits, toSamplingStep(sequence, mask));
}

/** How the next token of a sequence is drawn. */
export function toSamplingStep(sequence: Sequence, mask: TokenMask | null): SamplingStep {
  const { submitted, logitsProcessors } = sequence.group;
  return {
    params: submitted.sampling,
    randomKey: sequence.randomKey,
    position: sequence.outputTokenIds.length,
    processors: logitsProcessors,
    output: sequence,
    topLogprobCount: submitted.logprobs?.topCount,
    mask,
  };
}

/**
 * The prompt tokens that the row's first logits are opinions of, as the logits at one token are those of the next one.
 * Null where nobody asked.
 */
export function promptLogprobPositions(
  row: PlannedRow,
): { readonly tokenIds: readonly number[]; readonly topCount: number } | null {
  const { promptTokenIds, submitted, isPrefilled } = row.sequence.group;
  const { promptLogprobs } = submitted;
  if (promptLogprobs === undefined || isPrefilled) return null;
  const first = row.computedLength + row.tokenIds.length - row.logitsCount + 1;
  return {
    tokenIds: [...promptTokenIds.subarray(first, first + row.logitsCount)],
    topCount: promptLogprobs.topCount,
  };
}

function readPromptLogprobs(
  sampler: Sampler,
  row: PlannedRow,
  logits: Float32Array,
): readonly TokenLogprobs[] {
  const { vocabSize } = sampler;
  const positions = promptLogprobPositions(row);
  if (positions === null) return NOTHING;
  return positions.tokenIds.map((tokenId, index) =>
    sampler.readLogprobs(
      logits.subarray(index * vocabSize, (index + 1) * vocabSize),
      tokenId,
      positions.topCount,
    ),
  );
}
