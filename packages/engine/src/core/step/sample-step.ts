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
import { toRowJobs, toSamplingStep } from './row-questions.ts';

export interface SampledRow {
  /** New tokens of the sequence, in order: at most one more than the row's draft has. Empty for a row that draws none. */
  readonly tokens: readonly SampledToken[];
  /** Of the prompt tokens that follow the row's tokens, from position `computedLength + 1` on; only when requested. */
  readonly promptLogprobs: readonly TokenLogprobs[];
}

const NOTHING: readonly never[] = [];

/** The questions of a row of the plan about its logits. */
interface RowWork {
  readonly row: PlannedRow;
  /** Shape: `[row.logitsCount, vocabSize]`. */
  readonly logits: Float32Array;
  readonly masks: readonly TokenMask[] | null;
  /** The part that any sampling thread can do. */
  readonly jobs: readonly RowJob[];
}

/**
 * One entry for each row of the plan, in its order: its result, or its error, so that the failure of one row does not fail
 * the others. Shape: `logits` is `[sum of logitsCount, vocabSize]`; `masks` has what each row may
 * draw, first and behind the tokens of its draft, or why that is not known. Mutates: `logits`.
 */
export function sampleStep(
  sampler: Sampler,
  threads: SamplingThreads,
  plan: StepPlan,
  logits: Float32Array,
  masks: readonly (readonly TokenMask[] | Error | null)[],
): (SampledRow | Error)[] {
  const { vocabSize } = sampler;
  let end = 0;
  const works = plan.rows.map((row, index): RowWork | Error => {
    const start = end;
    end += row.logitsCount;
    const rowMasks = masks[index]!;
    if (rowMasks instanceof Error) return rowMasks;
    const rowLogits = logits.subarray(start * vocabSize, end * vocabSize);
    return attempt(() => {
      const jobs = toRowJobs(row, start, rowLogits.subarray(-vocabSize), rowMasks);
      return { row, logits: rowLogits, masks: rowMasks, jobs };
    });
  });
  let drawn: readonly (readonly SampledToken[] | Error)[] = [];
  const jobs = works.flatMap(work => (work instanceof Error ? [] : work.jobs));
  const answers = threads.answer(sampler, logits, jobs, () => {
    drawn = works.map(work => (work instanceof Error ? work : attempt(() => drawAlone(sampler, work))));
  });
  let answered = 0;
  return works.map((work, index) => {
    if (work instanceof Error) return work;
    const first = answered;
    answered += work.jobs.length;
    return collect(answers.slice(first, answered), drawn[index]!);
  });
}

/** The tokens of a row whose draw is no job. */
function drawAlone(sampler: Sampler, { row, logits, masks, jobs }: RowWork): readonly SampledToken[] {
  if (!row.drawsToken || jobs.at(-1)?.kind === 'draw') return NOTHING;
  return drawTokens(sampler, row, logits, masks);
}

function collect(
  answers: readonly (RowAnswer | Error)[],
  drawn: readonly SampledToken[] | Error,
): SampledRow | Error {
  const promptLogprobs: TokenLogprobs[] = [];
  let tokens = drawn;
  for (const answer of answers) {
    if (answer instanceof Error) return answer;
    if (answer.kind === 'draw') tokens = [answer.token];
    else promptLogprobs.push(answer.logprobs);
  }
  return tokens instanceof Error ? tokens : { promptLogprobs, tokens };
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

/** The row of logits with `behind` rows after it. */
function rowFromEnd(logits: Float32Array, behind: number, vocabSize: number): Float32Array {
  const end = logits.length - behind * vocabSize;
  return logits.subarray(end - vocabSize, end);
}
