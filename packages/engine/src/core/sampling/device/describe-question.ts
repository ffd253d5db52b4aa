// What a row is edited by before its token is drawn, asked of the request's processors while its output is what the question
// is about. Caller: `device-sampler.ts`.

import type { TokenEdits } from '../token-edits.ts';
import type { FetchReason, RowQuestion } from './row-work.ts';

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
  if (step.mask && step.mask.thinkTokenId !== null) return 'thinking';
  if (!edits.isExact) return 'edits';
  return (step.topLogprobCount ?? 0) > logprobLimit ? 'logprobs' : null;
}
