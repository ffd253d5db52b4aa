// A question about one row of logits and its answer in progress, changed by `device-sampler.ts` only.

import type { TokenLogprobs } from '../../../request/token-logprobs.ts';
import type { TokenMask } from '../../token-mask.ts';
import type { SampledToken, SamplingStep } from '../sampler.ts';
import { TokenEdits } from '../token-edits.ts';
import type { Decision, OpenReason } from './decide-token.ts';
import type { UneditedRow } from './own-logprobs.ts';

/** A question about one row of a step's logits. */
export type RowQuestion =
  | {
      readonly kind: 'draw';
      readonly row: number;
      readonly step: SamplingStep;
      /**
       * Its token counts only where the drafted tokens before it are accepted. The row is not fetched for it, because its output
       * may be another one by then. Default: false.
       */
      readonly isTentative?: boolean;
    }
  /** The log probabilities of a known token. */
  | { readonly kind: 'read'; readonly row: number; readonly tokenId: number; readonly topCount: number };

/** Reasons for fetching whole rows, besides those of `OpenReason`. */
export type FetchReason = OpenReason | 'reasoning' | 'edits' | 'logprobs';

export function isTentative(question: RowQuestion): boolean {
  return question.kind === 'draw' && question.isTentative === true;
}

/** Edits of a row without processors. */
export const NO_EDITS = new TokenEdits();

/** A question on its way to its answer. */
export class RowWork {
  readonly question: RowQuestion;
  /** Within the part of the logits that it is in. */
  row: number;
  readonly edits: TokenEdits;
  /** Place in the call. */
  index = 0;
  tokenId: number | null = null;
  place: Extract<Decision, { kind: 'in-block' }> | null = null;
  own: UneditedRow | null = null;
  logitAndRank: { readonly logit: number; readonly above: number } | null = null;
  fetch: FetchReason | null;
  answer: SampledToken | TokenLogprobs | Error | null = null;

  constructor(question: RowQuestion, edits: TokenEdits, fetch: FetchReason | null) {
    this.question = question;
    this.row = question.row;
    this.edits = edits;
    this.fetch = fetch;
  }

  get topCount(): number | undefined {
    return this.question.kind === 'read' ? this.question.topCount : this.question.step.topLogprobCount;
  }

  get mask(): TokenMask | null {
    return this.question.kind === 'read' ? null : (this.question.step.mask ?? null);
  }

  get temperature(): number {
    return this.question.kind === 'read' ? 0 : this.question.step.params.temperature;
  }

  take(decision: Decision): void {
    if (decision.kind === 'token') this.tokenId = decision.tokenId;
    else if (decision.kind === 'in-block') this.place = decision;
    else this.fetch = decision.reason;
  }
}

/** Null, or why the device cannot answer the question. Mutates: `edits`, which are those of the row afterwards. */
export function describeQuestion(
  question: RowQuestion,
  edits: TokenEdits,
  logprobLimit: number,
): FetchReason | null {
  edits.clear();
  if (question.kind === 'read') return question.topCount > logprobLimit ? 'logprobs' : null;
  const { step } = question;
  for (const processor of step.processors) processor.describe(edits, step.output);
  if (step.mask && step.mask.reasoningTokenId !== null) return 'reasoning';
  if (!edits.isExact) return 'edits';
  return (step.topLogprobCount ?? 0) > logprobLimit ? 'logprobs' : null;
}
