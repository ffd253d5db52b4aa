// The sampling part of a step on the CPU: rows of logits in, tokens and log probabilities of each row of the plan out. It
// changes no sequence. Caller: `host-step-runner.ts`.

import { attempt } from '../../errors.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { OutputView } from '../sampling/logits-processor.ts';
import type { SampledToken, Sampler } from '../sampling/sampler.ts';
import { TentativeOutput } from '../sampling/tentative-output.ts';
import type { RowAnswer, RowJob } from '../sampling/threads/row-job.ts';
import type { SamplingThreads } from '../sampling/threads/sampling-threads.ts';
import type { PlannedRow, StepPlan } from '../scheduler/step-plan.ts';
import type { TokenMask } from '../token-mask.ts';
import { addRowJobs, toSamplingStep } from './row-questions.ts';

export interface SampledRow {
  /** New tokens of the sequence, in order: at most one more than the row's draft has. Empty for a row that draws none. */
  readonly tokens: readonly SampledToken[];
  /**
   * Log probabilities of the prompt tokens that follow the row's tokens, from position `computedLength + 1`
   * on; only when requested.
   */
  readonly promptLogprobs: readonly TokenLogprobs[];
}

const NOTHING: readonly never[] = [];

/** The questions of a row of the plan about its logits. */
interface RowWork {
  readonly row: PlannedRow;
  /** Shape: `[row.logitsCount, vocabSize]`. */
  readonly logits: Float32Array;
  readonly masks: readonly TokenMask[] | null;
  /** Its jobs among those of the step: `[firstJob, jobEnd)`, the part that any sampling thread can do. */
  readonly firstJob: number;
  readonly jobEnd: number;
}

/**
 * One entry for each row of the plan, in its order: its result, or its error, so that the failure of one row does not fail
 * the others. Shape: `logits` is `[sum of logitsCount, vocabSize]`; `masks` has what each row may
 * draw, first and after the tokens of its draft, or why that is not known. Mutates: `logits`.
 */
export function sampleStep(
  sampler: Sampler,
  threads: SamplingThreads,
  plan: StepPlan,
  logits: Float32Array,
  masks: readonly (readonly TokenMask[] | Error | null)[],
): (SampledRow | Error)[] {
  const { vocabSize } = sampler;
  const jobs: RowJob[] = [];
  let end = 0;
  const works = plan.rows.map((row, index): RowWork | Error => {
    const start = end;
    end += row.logitsCount;
    const rowMasks = masks[index]!;
    if (rowMasks instanceof Error) return rowMasks;
    const rowLogits = logits.subarray(start * vocabSize, end * vocabSize);
    const firstJob = jobs.length;
    return attempt(() => {
      addRowJobs(jobs, row, { start, last: rowLogits.subarray(-vocabSize) }, rowMasks);
      return { row, logits: rowLogits, masks: rowMasks, firstJob, jobEnd: jobs.length };
    });
  });
  let drawn: readonly (readonly SampledToken[] | Error)[] = [];
  const answers = threads.answer(sampler, logits, jobs, () => {
    drawn = works.map(work => {
      if (work instanceof Error) return work;
      return isDrawnByJob(work, jobs) ? NOTHING : attempt(() => drawTokens(sampler, work));
    });
  });
  return works.map((work, index) => (work instanceof Error ? work : collect(work, answers, drawn[index]!)));
}

/** Whether nothing is left to draw for this thread alone. */
function isDrawnByJob({ row, firstJob, jobEnd }: RowWork, jobs: readonly RowJob[]): boolean {
  return !row.drawsToken || (jobEnd > firstJob && jobs[jobEnd - 1]!.kind === 'draw');
}

function collect(
  { firstJob, jobEnd }: RowWork,
  answers: readonly (RowAnswer | Error)[],
  drawn: readonly SampledToken[] | Error,
): SampledRow | Error {
  const promptLogprobs: TokenLogprobs[] = [];
  let tokens = drawn;
  for (let index = firstJob; index < jobEnd; index++) {
    const answer = answers[index]!;
    if (answer instanceof Error) return answer;
    if (answer.kind === 'draw') tokens = [answer.token];
    else promptLogprobs.push(answer.logprobs);
  }
  return tokens instanceof Error ? tokens : { promptLogprobs, tokens };
}

/**
 * The row's last logits decide its next tokens, one after the other, each as if it were alone in its step. As long as
 * the token that is drawn is the drafted one, the logits after the draft are those of the true text. A constrained row
 * has a mask for each of them, up to where its constraint can follow the draft.
 */
function drawTokens(sampler: Sampler, { row, logits, masks }: RowWork): SampledToken[] {
  const { sequence, draftLength, tokenIds } = row;
  const { vocabSize } = sampler;
  const draw = (index: number, output: OutputView): SampledToken => {
    const step = toSamplingStep(sequence, output, masks === null ? null : masks[index]!);
    return sampler.sample(rowFromEnd(logits, draftLength - index, vocabSize), step);
  };
  const tokens = [draw(0, sequence)];
  const reach = masks === null ? draftLength : masks.length - 1;
  if (reach === 0) return tokens;
  const output = new TentativeOutput(sequence);
  try {
    for (let index = 0; index < reach; index++) {
      const { tokenId } = tokens[index]!;
      if (tokenId !== tokenIds[tokenIds.length - draftLength + index]) break;
      output.append(tokenId);
      tokens.push(draw(index + 1, output));
    }
  } catch {
    // The next step begins at this very token and meets the same fault: until then the tokens before it are good.
  }
  return tokens;
}

/** The row of logits with `rowsAfter` rows after it. */
function rowFromEnd(logits: Float32Array, rowsAfter: number, vocabSize: number): Float32Array {
  const end = logits.length - rowsAfter * vocabSize;
  return logits.subarray(end - vocabSize, end);
}
