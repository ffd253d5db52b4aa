// The single place where a finished step changes sequences: it appends tokens, advances constraints and computed lengths, and
// records log probabilities and acceptance rates. Everything before it may throw and leave no trace.

import { asError, EngineError } from '../../errors.ts';
import type { PrefilledRequest, SequenceFinish, SequenceUpdate } from '../../protocol/messages.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { SampledToken } from '../sampling/sampler.ts';
import type { PlannedRow, StepPlan } from '../scheduler/step-plan.ts';
import type { Sequence } from '../sequence.ts';
import type { SampledRow } from './sample-step.ts';
import { findFinish } from './stop-rules.ts';

export interface CommittedStep {
  /** When the step ended. Unit: milliseconds. */
  readonly nowMs: number;
  readonly updates: SequenceUpdate[];
  readonly prefilled: PrefilledRequest[];
  /** Sequences that got tokens, those that ended with them included. */
  readonly advanced: Sequence[];
  /** Sequences that ended; the caller releases their slots. */
  readonly ended: Sequence[];
  /** Rows that gave no token. Their sequences are as they were; the caller fails their requests. */
  readonly failed: { readonly sequence: Sequence; readonly error: Error }[];
  /** Drafted tokens that were verified, and those of them that were accepted. */
  draftedTokenCount: number;
  acceptedTokenCount: number;
}

/**
 * Applies what the step computed. `sampled` has an entry for each row, in the plan's order.
 * Rows whose sequence is in `aborted` are skipped.
 * Mutates: the planned sequences and their groups.
 *
 * @param nowMs When the step ended. Unit: milliseconds.
 */
export function commitStep(
  plan: StepPlan,
  sampled: readonly (SampledRow | Error)[],
  aborted: ReadonlySet<Sequence>,
  nowMs: number,
): CommittedStep {
  const committed: CommittedStep = {
    nowMs,
    updates: [],
    prefilled: [],
    advanced: [],
    ended: [],
    failed: [],
    draftedTokenCount: 0,
    acceptedTokenCount: 0,
  };
  for (const [index, planned] of plan.rows.entries()) {
    const { sequence, computedLength, tokenIds, draftLength } = planned;
    const row = sampled[index]!;
    if (aborted.has(sequence)) continue;
    if (isConstraintFailure(row)) {
      commitFailure(sequence, row, committed);
      continue;
    }
    if (row instanceof Error) {
      committed.failed.push({ sequence, error: row });
      continue;
    }
    sequence.computedLength += tokenIds.length - draftLength;
    for (const [offset, logprobs] of row.promptLogprobs.entries()) {
      sequence.group.promptLogprobs[computedLength + 1 + offset] = logprobs;
    }
    if (row.tokens.length > 0) commitTokens(planned, row.tokens, committed);
    if (draftLength === 0) continue;
    committed.draftedTokenCount += draftLength;
    committed.acceptedTokenCount += sequence.computedLength - computedLength - 1;
  }
  return committed;
}

/**
 * Appends the drawn tokens up to the one that ends the sequence. Each but the last is an accepted token of
 * the draft, so that its keys and values exist; those of rejected tokens are after the computed tokens, where
 * nothing reads them.
 */
function commitTokens(
  { sequence, draft }: PlannedRow,
  tokens: readonly SampledToken[],
  committed: CommittedStep,
): void {
  const { group, choiceIndex } = sequence;
  const { requestId, submitted } = group;
  const tokenIds: number[] = [];
  let finish: SequenceFinish | undefined;
  for (const { tokenId } of tokens) {
    let answer: 'open' | 'complete' | 'ended' = 'open';
    try {
      if (sequence.constraint !== null) answer = sequence.constraint.accept(tokenId);
    } catch (error) {
      if (isConstraintFailure(error))
        commitFailure(sequence, error, committed, tokens.slice(0, tokenIds.length));
      else committed.failed.push({ sequence, error: asError(error) });
      return;
    }
    if (tokenIds.length > 0) sequence.computedLength++;
    sequence.append(tokenId);
    tokenIds.push(tokenId);
    finish = findFinish(submitted, {
      tokenId,
      outputLength: sequence.outputTokenIds.length,
      isRepeating: sequence.isRepeating,
      answer,
    });
    if (finish !== undefined) break;
  }
  if (draft !== null) sequence.acceptance.observe(draft, tokenIds);
  commitPrefill(sequence, committed);
  committed.advanced.push(sequence);
  if (finish !== undefined) committed.ended.push(sequence);
  committed.updates.push({
    requestId,
    choiceIndex,
    tokenIds,
    ...(submitted.logprobs === undefined ? {} : { logprobs: readLogprobs(tokens, tokenIds.length) }),
    ...(finish === undefined ? {} : { finish: withPosition(finish, sequence) }),
  });
}

/** A constrained answer that is cut off tells whether it could have ended here. */
function withPosition(finish: SequenceFinish, { constraint }: Sequence): SequenceFinish {
  return finish.reason === 'length' && constraint !== null
    ? { ...finish, canEnd: constraint.canEnd() }
    : finish;
}

function readLogprobs(tokens: readonly SampledToken[], count: number): TokenLogprobs[] {
  return tokens.slice(0, count).flatMap(({ logprobs }) => logprobs ?? []);
}

/** Ends the sequence after these tokens, and nothing else of its request. */
function commitFailure(
  sequence: Sequence,
  { code, message }: EngineError,
  committed: CommittedStep,
  tokens: readonly SampledToken[] = [],
): void {
  const { group, choiceIndex } = sequence;
  commitPrefill(sequence, committed);
  committed.ended.push(sequence);
  committed.updates.push({
    requestId: group.requestId,
    choiceIndex,
    tokenIds: tokens.map(({ tokenId }) => tokenId),
    ...(group.submitted.logprobs !== undefined && { logprobs: readLogprobs(tokens, tokens.length) }),
    failure: { code, message },
  });
}

/** The first output of a request reports its prompt. */
function commitPrefill({ group }: Sequence, committed: CommittedStep): void {
  if (group.isPrefilled) return;
  group.isPrefilled = true;
  const { requestId, submitted, cachedTokenCount, promptLogprobs, submittedAtMs } = group;
  const { nowMs } = committed;
  const startedAtMs = group.startedAtMs ?? nowMs;
  committed.prefilled.push({
    requestId,
    cachedTokenCount: cachedTokenCount ?? 0,
    timing: { queuedMs: startedAtMs - submittedAtMs, prefillMs: nowMs - startedAtMs },
    ...(submitted.promptLogprobs === undefined ? {} : { promptLogprobs }),
  });
}

/** A constraint that can no longer be followed ends its own choice only. */
function isConstraintFailure(error: unknown): error is EngineError {
  return error instanceof EngineError && error.code === 'constraint_failed';
}
