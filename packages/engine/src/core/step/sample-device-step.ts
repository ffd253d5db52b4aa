// The sampling part of a step whose logits are on a device, with the same results as `sample-step.ts` on the
// CPU. All rows are sampled together. It changes no sequence. Caller: `device-step-runner.ts`.

import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { DeviceLogits } from '../runners/paged/device-logits.ts';
import type { DeviceSampler } from '../sampling/device/device-sampler.ts';
import type { RowQuestion } from '../sampling/device/row-work.ts';
import type { SampledToken } from '../sampling/sampler.ts';
import { TentativeOutput } from '../sampling/tentative-output.ts';
import type { PlannedRow, StepPlan } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import { promptLogprobPositions, toSamplingStep } from './row-questions.ts';
import type { SampledRow } from './sample-step.ts';

/** A row of the plan on its way to its answer. */
interface RowProgress {
  readonly row: PlannedRow;
  /** For its next token and those after the tokens of its draft, up to where its constraint can follow them. */
  readonly masks: readonly TokenMask[] | null;
  /** The first row of its logits, and the row after the last. */
  readonly start: number;
  readonly end: number;
  /** Accepted tokens. */
  readonly tokens: SampledToken[];
  /** The output after those, for a row with a draft; null: the sequence's own. */
  readonly output: TentativeOutput | null;
  promptLogprobs: readonly TokenLogprobs[];
  error: Error | null;
}

/**
 * One entry for each row of the plan, in its order, as `sampleStep` gives them.
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
      start,
      end,
      tokens: [],
      output: row.draftLength > 0 ? new TentativeOutput(row.sequence) : null,
      promptLogprobs: [],
      error,
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
 * All tokens of a row are sampled at once, each as if the drafted tokens before it were accepted. Mostly one round: another
 * one is for a row whose draft was accepted up to a place that the device left open.
 */
async function drawTokens(
  sampler: DeviceSampler,
  logits: DeviceLogits,
  all: readonly RowProgress[],
): Promise<void> {
  let open = all.filter(({ row, error }) => row.drawsToken && error === null);
  while (open.length > 0) {
    const answers = await sampler.answer(logits, questionsOf(open));
    let next = 0;
    open = open.filter(progress => {
      const count = 1 + draftOf(progress).length;
      const own = answers.slice(next, next + count) as (SampledToken | Error | null)[];
      next += count;
      return takeAnswers(progress, own);
    });
  }
}

/** Drafted tokens after those that are accepted, as far as the row's constraint can follow them. */
function draftOf({ row, masks, tokens }: RowProgress): Int32Array {
  const { tokenIds, draftLength } = row;
  const whole = tokenIds.subarray(tokenIds.length - draftLength);
  return whole.subarray(tokens.length, masks === null ? draftLength : masks.length - 1);
}

/** The output of a row with a draft goes on with the drafted tokens before a question while that is taken. */
function* questionsOf(open: readonly RowProgress[]): Generator<RowQuestion> {
  for (const progress of open) {
    const { row, masks, end, tokens, output } = progress;
    const { sequence, draftLength } = row;
    const draft = draftOf(progress);
    for (let ahead = 0; ahead <= draft.length; ahead++) {
      const place = tokens.length + ahead;
      const mask = masks === null ? null : masks[place]!;
      const step = toSamplingStep(sequence, output ?? sequence, mask);
      yield { kind: 'draw', row: end - 1 - (draftLength - place), step, isTentative: ahead > 0 };
      if (ahead < draft.length) output!.append(draft[ahead]!);
    }
    for (let tried = 0; tried < draft.length; tried++) output!.takeBack();
  }
}

/**
 * Accepts tokens up to the first that differs from the draft. Returns whether the next one is still to be sampled. Mutates:
 * the row's progress.
 */
function takeAnswers(progress: RowProgress, answers: readonly (SampledToken | Error | null)[]): boolean {
  const { tokens } = progress;
  const draft = draftOf(progress);
  for (const [ahead, answer] of answers.entries()) {
    if (answer === null) return true;
    if (answer instanceof Error) {
      // Tokens before it are good; the next step begins at this very token and meets the same fault.
      if (tokens.length === 0) progress.error = answer;
      return false;
    }
    tokens.push(answer);
    if (ahead === draft.length || answer.tokenId !== draft[ahead]) return false;
    progress.output!.append(answer.tokenId);
  }
  return false;
}
