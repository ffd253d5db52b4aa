// Prepares requests with a constraint and checks their finished answers: the grammar, the reasoning before the answer, the
// vocabulary on the token side. `linked-engine.ts` calls it.

import {
  ConstraintError,
  type ConstraintErrorCode,
  ConstraintPreparer,
  findJsonPosition,
  ReasoningEnd,
  type TokenVocabulary,
} from '@ortler/structured-output';
import { EngineError, type EngineErrorCode } from '../errors.ts';
import type { CoreLink } from '../link/core-link.ts';
import type { ConstraintOptions } from '../protocol/engine-options.ts';
import type { SubmittedConstraint, SubmittedReasoning } from '../protocol/messages.ts';
import type { ConstraintPosition } from '../request/generation-event.ts';
import type { GenerationRequest } from '../request/generation-request.ts';
import { detokenize } from '../text/detokenizer.ts';
import { toTokenVocabulary } from '../text/to-token-vocabulary.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { PreparedRequest } from './request-preparer.ts';
import { toSubmittedReasoning } from './request-reasoning.ts';
import { findPlace, toToolConstraint } from './tool-constraint.ts';

export interface ConstrainedRequestsOptions extends ConstraintOptions {
  readonly tokenizer: Tokenizer;
  /** Length of a row of logits. */
  readonly vocabSize: number;
  readonly link: Pick<CoreLink, 'setVocabulary'>;
}

export interface ConstrainedRequest {
  readonly submitted: SubmittedConstraint;
  /**
   * Checks the tokens of a choice that ended by itself; null when the grammar enforces the whole constraint.
   * Rejects with `constraint_failed`, `overloaded`, `aborted`, `engine_closed`.
   */
  readonly checkAnswer: ((tokenIds: readonly number[]) => Promise<void>) | null;
  /** The position of a choice in the constraint when the limit of its length ended it; null where tools are all of it. */
  readonly findPosition: ((tokenIds: readonly number[], canEnd: boolean) => ConstraintPosition) | null;
}

export class ConstrainedRequests {
  readonly #options: ConstrainedRequestsOptions;
  #vocabulary: TokenVocabulary | null = null;
  #preparer: ConstraintPreparer | null = null;
  /** Start count of the token side when it last got the vocabulary. */
  #knownToStart = 0;
  #isClosed = false;

  constructor(options: ConstrainedRequestsOptions) {
    this.#options = options;
  }

  /** Null for a request without a constraint and without tools. Throws: `invalid_request`, `overloaded`, `aborted`, `engine_closed`. */
  async prepare(
    request: Pick<GenerationRequest, 'constraint' | 'share'>,
    { reasoning, tools }: Pick<PreparedRequest, 'reasoning' | 'tools'>,
    signal?: AbortSignal,
  ): Promise<ConstrainedRequest | null> {
    const ofTools = tools === null ? null : toToolConstraint(tools, request);
    const constraint = ofTools === null ? request.constraint : ofTools.spec;
    if (constraint === undefined) return null;
    const preparer = this.#startPreparer();
    const placeOf = tools === null ? () => 'constraint' : findPlace;
    const { share } = request;
    const prepared = await asEngineErrors(preparer.prepare(constraint, signal, share), placeOf);
    // A grammar of channels has the reasoning in it.
    const isFree = reasoning !== null && tools?.dialect.isChannelled !== true;
    const submitted = isFree ? toSubmittedReasoning(reasoning, this.#options.tokenizer) : undefined;
    const { grammar, check } = prepared;
    return {
      submitted: {
        grammar,
        ...(submitted !== undefined && { reasoning: submitted }),
        ...(ofTools?.triggers !== undefined && { triggers: ofTools.triggers }),
      },
      checkAnswer:
        check === null
          ? null
          : tokenIds =>
              asEngineErrors(preparer.check(prepared, this.#answerText(tokenIds, submitted), signal, share)),
      findPosition:
        request.constraint === undefined
          ? null
          : (tokenIds, canEnd) => ({
              isComplete: canEnd,
              ...(grammar.kind === 'json_schema' &&
                !canEnd &&
                findJsonPosition(this.#answerText(tokenIds, submitted))),
            }),
    };
  }

  /** Sends the vocabulary to the token side, once per start. Called before a constrained submission. */
  announce(startCount: number): void {
    if (this.#knownToStart === startCount) return;
    this.#knownToStart = startCount;
    this.#options.link.setVocabulary({ kind: 'vocabulary', vocabulary: this.#readVocabulary() });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#preparer?.close();
  }

  #startPreparer(): ConstraintPreparer {
    if (this.#isClosed) throw new EngineError('engine_closed', 'The engine was closed.');
    const { specialTokens, eosTokenIds } = this.#readVocabulary();
    if (eosTokenIds.length === 0) {
      const message = 'This model has no end-of-sequence token, which constraints need.';
      throw new EngineError('invalid_request', message, { parameter: 'constraint' });
    }
    const { limits, timeLimitMs, style } = this.#options;
    this.#preparer ??= new ConstraintPreparer({
      specialTokens,
      ...(limits !== undefined && { limits }),
      ...(timeLimitMs !== undefined && { timeLimitMs }),
      ...(style !== undefined && { style }),
    });
    return this.#preparer;
  }

  #readVocabulary(): TokenVocabulary {
    const { tokenizer, vocabSize } = this.#options;
    this.#vocabulary ??= toTokenVocabulary(tokenizer, vocabSize);
    return this.#vocabulary;
  }

  /** The text that the constraint applies to: without the reasoning and the end token. */
  #answerText(tokenIds: readonly number[], submitted: SubmittedReasoning | undefined): string {
    const { tokenizer } = this.#options;
    const last = tokenIds.length - 1;
    const end = tokenizer.eosTokenIds.includes(tokenIds[last]!) ? last : tokenIds.length;
    const start = submitted === undefined ? 0 : this.#answerStart(tokenIds, submitted);
    return detokenize(tokenizer.tokenBytes, tokenIds.slice(start, end), { skipSpecialTokens: true });
  }

  #answerStart(tokenIds: readonly number[], { isOpen, startTokenId, ends }: SubmittedReasoning): number {
    if (!isOpen && tokenIds[0] !== startTokenId) return 0;
    const reasoningEnd = new ReasoningEnd(this.#readVocabulary(), ends);
    const first = isOpen ? 0 : 1;
    const index = tokenIds.findIndex((id, at) => at >= first && reasoningEnd.push(id));
    return index === -1 ? tokenIds.length : index + 1;
  }
}

const ENGINE_CODES = {
  invalid_constraint: 'invalid_request',
  unsatisfied: 'constraint_failed',
  overloaded: 'overloaded',
  aborted: 'aborted',
  closed: 'engine_closed',
  failed: 'engine_failed',
} as const satisfies Record<ConstraintErrorCode, EngineErrorCode>;

/** Throws: `ConstraintError` as `EngineError`, with the parameter where the request is at fault. */
async function asEngineErrors<Result>(
  work: Promise<Result>,
  placeOf: (message: string) => string = () => 'constraint',
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ConstraintError)) throw error;
    const { message, retryAfterMs } = error;
    throw new EngineError(ENGINE_CODES[error.code], message, {
      cause: error,
      parameter: error.code === 'invalid_constraint' ? placeOf(message) : undefined,
      retryAfterMs,
    });
  }
}
