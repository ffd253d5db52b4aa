// The sampling part of a step whose logits lie on a device: what `../sample-step.ts` is for logits in the process, with the
// same answers. All rows are asked about together. Caller: `../step-sampler.ts`.

import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { DeviceLogits } from '../runners/paged/device-logits.ts';
import type { DeviceSampler } from '../sampling/device/device-sampler.ts';
import type { RowQuestion } from '../sampling/device/row-work.ts';
import type { SampledToken } from '../sampling/sampler.ts';
import type { PlannedRow, StepPlan } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import { promptLogprobPositions } from './prompt-logprob-positions.ts';
import type { SampledRow } from './sample-step.ts';
import { toSamplingStep } from './to-sampling-step.ts';

/** A row of the plan on its way to its answer. */
interface RowProgress {
  readonly row: PlannedRow;
  /** For its next token and those behind the tokens of its draft, up to where its constraint can follow them. */
  readonly masks: readonly TokenMask[] | null;
  /** Of its logits: the first, and the one behind the last. */
  readonly start: number;
  readonly end: number;
  readonly tokens: SampledToken[];
  promptLogprobs: readonly TokenLogprobs[];
  error: Error | null;
}

/**
 * One entry for each row of the plan, in its order, as `sampleStep` gives them. Afterwards every sequence is as it was.
 */
export async function sampleDeviceStep(
  sampler: DeviceSampler,
  plan: StepPlan,
  logits: DeviceLogits,
  masks: readonly (readonly TokenMask[] | Error | null)[],
): Promise<(SampledRow | Error)[]> {
  let end = 0;
  const all = plan.rows.map((row, index): RowProgress => {
    const rowMasks = masks[index]!;
    const start = end;
    end += row.logitsCount;
    const error = rowMasks instanceof Error ? rowMasks : null;
    return {
      row,
      masks: rowMasks instanceof Error ? null : rowMasks,
      ...{ start, end, tokens: [], promptLogprobs: [], error },
    };
  });
  await readPromptLogprobs(sampler, logits, all);
  await drawTokens(sampler, logits, all);
  return all.map(({ error, tokens, promptLogprobs }) => error ?? { tokens, promptLogprobs });
}

async function readPromptLogprobs(
  sampler: DeviceSampler,
  logits: DeviceLogits,
  all: readonly RowProgress[],
): Promise<void> {
  for (const progress of all) {
    const positions = progress.error === null ? promptLogprobPositions(progress.row) : null;
    if (positions === null) continue;
    const questions = positions.tokenIds.map(
      (tokenId, index): RowQuestion => ({
        kind: 'read',
        row: progress.start + index,
        tokenId,
        topCount: positions.topCount,
      }),
    );
    const answers = await sampler.answer(logits, questions);
    const failed = answers.find(answer => answer instanceof Error);
    if (failed !== undefined) progress.error = failed;
    else progress.promptLogprobs = answers as TokenLogprobs[];
  }
}

/**
 * All tokens of a row are asked for at once, each as if the guesses before it were right. Mostly one round: another one is
 * for a row whose guesses were right up to a place that the device left open.
 */
async function drawTokens(
  sampler: DeviceSampler,
  logits: DeviceLogits,
  all: readonly RowProgress[],
): Promise<void> {
  const lengths = all.map(({ row }) => row.sequence.outputTokenIds.length);
  let open = all.filter(({ row, error }) => row.drawsToken && error === null);
  try {
    while (open.length > 0) {
      const answers = await sampler.answer(logits, questionsOf(open));
      let next = 0;
      open = open.filter(progress => {
        const count = 1 + guessesOf(progress).length;
        const own = answers.slice(next, next + count) as (SampledToken | Error | null)[];
        next += count;
        return takeAnswers(progress, own);
      });
    }
  } finally {
    for (const [index, { row }] of all.entries())
      while (row.sequence.outputTokenIds.length > lengths[index]!) row.sequence.untryToken();
  }
}

/** Guessed tokens behind those that are drawn, as far as the row's constraint can follow them. */
function guessesOf({ row, masks, tokens }: RowProgress): Int32Array {
  const { tokenIds, draftLength } = row;
  const draft = tokenIds.subarray(tokenIds.length - draftLength);
  return draft.subarray(tokens.length, masks === null ? draftLength : masks.length - 1);
}

/** Shows each sequence with the guesses before a question while that is taken. */
function* questionsOf(open: readonly RowProgress[]): Generator<RowQuestion> {
  for (const progress of open) {
    const { row, masks, end, tokens } = progress;
    const { sequence, draftLength } = row;
    const guesses = guessesOf(progress);
    for (let ahead = 0; ahead <= guesses.length; ahead++) {
      const place = tokens.length + ahead;
      const mask = masks === null ? null : masks[place]!;
      const step = toSamplingStep(sequence, mask);
      yield { kind: 'draw', row: end - 1 - (draftLength - place), step, isTentative: ahead > 0 };
      if (ahead < guesses.length) sequence.tryToken(guesses[ahead]!);
    }
    for (let tried = 0; tried < guesses.length; tried++) sequence.untryToken();
  }
}

/**
 * Takes the tokens up to the one that was guessed wrong. Whether the next one is still to be asked for. Mutates: the row's
 * progress and, for a while, its sequence.
 */
function takeAnswers(progress: RowProgress, answers: readonly (SampledToken | Error | null)[]): boolean {
  const { row, tokens } = progress;
  const guesses = guessesOf(progress);
  for (const [ahead, answer] of answers.entries()) {
    if (answer === null) return true;
    if (answer instanceof Error) {
      // Tokens before it are good; the next step begins at this very token and meets the same fault.
      if (tokens.length === 0) progress.error = answer;
      return false;
    }
    tokens.push(answer);
    if (ahead === guesses.length || answer.tokenId !== guesses[ahead]) return false;
    row.sequence.tryToken(answer.tokenId);
  }
  return false;
}
