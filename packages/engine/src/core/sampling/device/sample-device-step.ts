// The sampling part of a step whose logits lie on a device: what `../sample-step.ts` is for logits in the process, with the
// same answers. All rows are asked about together. Caller: `../step-sampler.ts`.

import type { TokenLogprobs } from '../../../request/token-logprobs.ts';
import type { DeviceLogits } from '../../model/device-logits.ts';
import type { PlannedRow, StepPlan } from '../../scheduler/step-plan.ts';
import type { TokenMask } from '../../token-mask.ts';
import { promptLogprobPositions, type SampledRow, toSamplingStep } from '../sample-step.ts';
import type { SampledToken } from '../sampler.ts';
import type { DeviceSampler } from './device-sampler.ts';
import type { RowQuestion } from './row-work.ts';

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
 * In rounds: the first tokens of all rows, then the tokens behind those that were guessed right, until no guess is left.
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
      const answers = await sampler.answer(logits, open.map(toQuestion));
      open = open.filter((progress, index) => takeAnswer(progress, answers[index] as SampledToken | Error));
    }
  } finally {
    for (const [index, { row }] of all.entries())
      while (row.sequence.outputTokenIds.length > lengths[index]!) row.sequence.untryToken();
  }
}

function toQuestion({ row, masks, end, tokens }: RowProgress): RowQuestion {
  const { sequence, draftLength } = row;
  const mask = masks === null ? null : masks[tokens.length]!;
  return {
    kind: 'draw',
    row: end - 1 - (draftLength - tokens.length),
    step: toSamplingStep(sequence, mask),
  };
}

/** Whether the next token can be drawn in this step as well. Mutates: the row's progress and, for a while, its sequence. */
function takeAnswer(progress: RowProgress, answer: SampledToken | Error): boolean {
  const { row, masks, tokens } = progress;
  if (answer instanceof Error) {
    // Tokens before it are good; the next step begins at this very token and meets the same fault.
    if (tokens.length === 0) progress.error = answer;
    return false;
  }
  tokens.push(answer);
  const left = row.draftLength - tokens.length + 1;
  if (left === 0 || answer.tokenId !== row.tokenIds[row.tokenIds.length - left]) return false;
  if (masks !== null && tokens.length === masks.length) return false;
  row.sequence.tryToken(answer.tokenId);
  return true;
}
