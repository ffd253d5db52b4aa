// Questions about one row of logits that take nothing of its sequence: any thread that sees the logits gives the same bits.
// Asked by `../../step/sample-step.ts`, answered here with a sampler.

import type { SamplingParams } from '../../../request/sampling-params.ts';
import type { TokenLogprobs } from '../../../request/token-logprobs.ts';
import type { CounterKey } from '../counter-random.ts';
import type { LogitsProcessor, OutputView } from '../logits-processor.ts';
import type { SampledToken, Sampler } from '../sampler.ts';

/** The next token of a row that has been edited as its request asks, if it does. */
export interface DrawJob {
  readonly kind: 'draw';
  /** Index of the row in the logits of the step. */
  readonly row: number;
  /** Only those that say how a row is drawn from, not how it is edited, have an effect. */
  readonly params: SamplingParams;
  readonly randomKey: CounterKey;
  readonly position: number;
  /** Undefined: no log probabilities. */
  readonly topCount: number | undefined;
  readonly isEdited: boolean;
}

/** The log probabilities of a token that is known. */
export interface ReadJob {
  readonly kind: 'read';
  readonly row: number;
  readonly tokenId: number;
  readonly topCount: number;
}

export type RowJob = DrawJob | ReadJob;

export type RowAnswer =
  | { readonly kind: 'draw'; readonly token: SampledToken }
  | { readonly kind: 'read'; readonly logprobs: TokenLogprobs };

/** Whether the job needs the weights of its row. The others only look for its largest logit, in a tenth of the time. */
export function weighsRow(job: RowJob): boolean {
  return job.kind === 'read' || job.topCount !== undefined || job.params.temperature > 0;
}

const NO_PROCESSORS: readonly LogitsProcessor[] = [];
/** No processor looks at it. */
const NO_OUTPUT: OutputView = { outputTokenIds: [], tokenCounts: null };

/** Shape: `logits` is `[rows, vocabSize]`. Throws: as `Sampler.sample` and `Sampler.readLogprobs` do. */
export function answerRowJob(sampler: Sampler, logits: Float32Array, job: RowJob): RowAnswer {
  const { vocabSize } = sampler;
  const row = logits.subarray(job.row * vocabSize, (job.row + 1) * vocabSize);
  if (job.kind === 'read')
    return { kind: 'read', logprobs: sampler.readLogprobs(row, job.tokenId, job.topCount) };
  const { params, randomKey, position, isEdited } = job;
  const token = sampler.sample(row, {
    params,
    randomKey,
    position,
    isEdited,
    topLogprobCount: job.topCount,
    processors: NO_PROCESSORS,
    output: NO_OUTPUT,
  });
  return { kind: 'draw', token };
}
