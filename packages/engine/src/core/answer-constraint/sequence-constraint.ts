// The constraint of one sequence (structured output): reasoning is free, and so is text before a trigger; then the matcher
// decides about every token.
// The step loop fills its mask while the model runs, and advances it only by committed tokens.

import {
  type ConstraintMatcher,
  MatcherFailed,
  ReasoningEnd,
  type TokenVocabulary,
} from '@ortler/structured-output';
import { EngineError } from '../../errors.ts';
import type { SubmittedReasoning, SubmittedTriggers } from '../../protocol/messages.ts';
import type { TokenMask } from '../token-mask.ts';
import { onlyContinuation } from './only-continuation.ts';
import { type TriggerState, TriggerWatch } from './trigger-watch.ts';

export interface SequenceConstraintOptions {
  readonly vocabulary: TokenVocabulary;
  readonly reasoning: SubmittedReasoning | undefined;
  /** The answer is free up to a trigger. */
  readonly triggers: SubmittedTriggers | undefined;
  /** Tokens that hold a trigger and text after it. */
  readonly acrossTriggers: readonly number[];
  /** End tokens of the model that do not end this request's choices. */
  readonly ignoredEndIds: readonly number[];
  /** Scratch memory for a mask, shared by all sequences. */
  readonly scratch: Uint32Array;
}

export class SequenceConstraint {
  /** At the start of an answer while text is free: what free text came before makes no difference to the grammar. */
  readonly #matcher: ConstraintMatcher;
  readonly #options: SequenceConstraintOptions;
  readonly #reasoningEnd: ReasoningEnd | null;
  readonly #watch: TriggerWatch | null;
  /** The matcher after text that may be the beginning of a trigger, or is one. */
  #triggerMatcher: ConstraintMatcher | null = null;
  /** The matcher has accepted the beginning of the trigger. */
  #isTriggerAccepted = true;
  /**
   * `free`: text before a trigger. `near`: the text may end in the beginning of one, so the next token may hold its end and what
   * follows. `released`: no trigger can come any more.
   */
  #phase: 'start' | 'reasoning' | 'free' | 'near' | 'released' | 'answer';

  /** Owns the matcher, which is at the start of an answer, or where that of `source` is. */
  constructor(matcher: ConstraintMatcher, options: SequenceConstraintOptions, source?: SequenceConstraint) {
    const { reasoning, vocabulary, triggers } = options;
    this.#matcher = matcher;
    this.#options = options;
    if (source !== undefined) {
      this.#watch = source.#watch === null ? null : source.#watch.fork();
      this.#triggerMatcher = source.#triggerMatcher === null ? null : source.#triggerMatcher.fork();
      this.#isTriggerAccepted = source.#isTriggerAccepted;
      this.#reasoningEnd = source.#reasoningEnd === null ? null : source.#reasoningEnd.fork();
      this.#phase = source.#phase;
      return;
    }
    this.#reasoningEnd = reasoning === undefined ? null : new ReasoningEnd(vocabulary, reasoning.ends);
    this.#watch = triggers === undefined ? null : new TriggerWatch(vocabulary, triggers);
    this.#phase = reasoning === undefined ? this.#answerPhase : reasoning.isOpen ? 'reasoning' : 'start';
  }

  /** The phase at the beginning of the answer. */
  get #answerPhase(): 'free' | 'near' | 'answer' {
    if (this.#watch === null) return 'answer';
    return this.#watch.first === 'near' ? 'near' : 'free';
  }

  get #active(): ConstraintMatcher {
    return this.#triggerMatcher ?? this.#matcher;
  }

  /** Every token may come next, so no mask is needed. */
  get allowsAll(): boolean {
    return this.#isFree && (this.#phase === 'released' || this.#options.acrossTriggers.length === 0);
  }

  /** Only tokens that would reach beyond a trigger are ruled out. */
  get #isFree(): boolean {
    const phase = this.#phase === 'start' ? this.#answerPhase : this.#phase;
    return phase === 'free' || phase === 'released';
  }

  /**
   * The tokens that may come next; at least one. Shape: as `ConstraintMatcher.fillMask`.
   * Mutates: `mask`, which becomes part of the result. Throws: `constraint_failed`.
   */
  fillMask(mask: Uint32Array): TokenMask {
    const { vocabulary, reasoning, ignoredEndIds } = this.#options;
    const { eosTokenIds } = vocabulary;
    if (this.#phase === 'reasoning') {
      mask.fill(0xffffffff);
      // An end before the answer would leave the answer out.
      clearBits(mask, eosTokenIds);
      return { words: mask, endTokenId: null, reasoningTokenId: null };
    }
    if (this.#isFree) {
      mask.fill(0xffffffff);
      if (this.#phase !== 'released') clearBits(mask, this.#options.acrossTriggers);
      return { words: mask, endTokenId: eosTokenIds[0] ?? null, reasoningTokenId: null };
    }
    guard(() => this.#active.fillMask(mask));
    const endTokenId = eosTokenIds.find(id => hasBit(mask, id)) ?? null;
    // Ends that do not count are left only where nothing else may come.
    if (endTokenId !== null && hasOtherBits(mask, eosTokenIds)) clearBits(mask, ignoredEndIds);
    if (isEmpty(mask)) throw failed('The constraint allows no further token.');
    const reasoningTokenId = (this.#phase === 'start' ? reasoning?.startTokenId : undefined) ?? null;
    return { words: mask, endTokenId, reasoningTokenId };
  }

  /**
   * Accepts a token: `complete` when nothing can follow it, `ended` for an end token. Throws:
   * `constraint_failed`.
   */
  accept(tokenId: number): 'open' | 'complete' | 'ended' {
    if (this.#phase === 'reasoning') {
      if (this.#reasoningEnd!.push(tokenId)) this.#phase = this.#answerPhase;
      return 'open';
    }
    const { reasoning, vocabulary } = this.#options;
    if (this.#phase === 'start' && tokenId === reasoning?.startTokenId) {
      this.#phase = 'reasoning';
      return 'open';
    }
    if (this.#phase === 'start') this.#phase = this.#answerPhase;
    if (this.#phase === 'released') return 'open';
    if (this.#phase === 'free') return this.#acceptFree(tokenId);
    return guard(() => {
      const matcher = this.#active;
      if (!matcher.accept(tokenId)) throw new MatcherFailed(`The constraint refuses token ${tokenId}.`);
      const mustStop = matcher.mustStop();
      if (this.#phase === 'near' && !mustStop) this.#leaveNear(this.#watch!.push(tokenId));
      if (!mustStop) return 'open';
      return vocabulary.eosTokenIds.includes(tokenId) ? 'ended' : 'complete';
    });
  }

  /** A token of free text, which may begin a trigger or be one. */
  #acceptFree(tokenId: number): 'open' {
    // An end that does not count is text.
    if (this.#options.vocabulary.eosTokenIds.includes(tokenId)) return 'open';
    const state = this.#watch!.push(tokenId);
    if (state === 'free') return 'open';
    guard(() => {
      const matcher = this.#matcher.fork();
      this.#triggerMatcher = matcher;
      // The rest of a character that began in an earlier token is not text by itself, so a trigger after it
      // could not be followed.
      this.#isTriggerAccepted = matcher.accept(tokenId);
      if (!this.#isTriggerAccepted && state === 'hit')
        throw new MatcherFailed(`The constraint refuses token ${tokenId}.`);
    });
    this.#phase = state === 'hit' ? 'answer' : 'near';
    return 'open';
  }

  #leaveNear(state: TriggerState): void {
    if (state === 'near') return;
    if (state === 'hit' && !this.#isTriggerAccepted)
      throw new MatcherFailed('The constraint lost the beginning of a trigger.');
    this.#phase = state === 'hit' ? 'answer' : state === 'over' ? 'released' : 'free';
    if (this.#phase === 'answer') return;
    this.#triggerMatcher?.dispose();
    this.#triggerMatcher = null;
  }

  /**
   * The tokens that may come next, and those that may come after each token of a draft, as far as the draft
   * is accepted. Mutates: the first of `words`, one for each mask. Throws: `constraint_failed` when not even
   * the first mask is known.
   */
  fillMasks(draft: Int32Array, words: readonly Uint32Array[]): readonly TokenMask[] {
    const masks = [this.fillMask(words[0]!)];
    const ahead = this.fork();
    try {
      for (const tokenId of draft) {
        if (ahead.accept(tokenId) !== 'open') break;
        masks.push(ahead.fillMask(words[masks.length]!));
      }
    } catch (error) {
      // A fault after a drafted token occurs again once that token has been drawn.
      if (!(error instanceof EngineError)) throw error;
    } finally {
      ahead.dispose();
    }
    return masks;
  }

  /**
   * Jump-forward decoding: proposes the tokens of the only way in which the answer can go on, and returns how many. The
   * model may still draw others, because the same text can be written in other tokens. The constraint stays as it is.
   * Mutates: `proposed`, at most `maxTokens` tokens.
   */
  jumpForward(proposed: Int32Array, maxTokens: number): number {
    if (this.#phase !== 'answer') return 0;
    const { vocabulary, scratch } = this.#options;
    let ahead: ConstraintMatcher | null = null;
    let count = 0;
    try {
      while (count < maxTokens) {
        (ahead ?? this.#active).fillMask(scratch);
        const tokenId = onlyContinuation(vocabulary, scratch);
        if (tokenId === undefined) break;
        ahead ??= this.#active.fork();
        if (!ahead.accept(tokenId)) break;
        proposed[count++] = tokenId;
      }
    } catch (error) {
      // The step that gets there reports the fault.
      if (!(error instanceof MatcherFailed)) throw error;
    } finally {
      ahead?.dispose();
    }
    return count;
  }

  /** How many of the first `length` proposed tokens the constraint allows, one after the other. */
  countAllowed(proposed: Int32Array, length: number): number {
    if (this.#phase === 'start') return 0;
    if (this.#phase === 'reasoning' || this.#phase === 'released') return length;
    if (this.#phase === 'free') return this.#countFree(proposed, length);
    try {
      return this.#active.countFitting([...proposed.subarray(0, length)]);
    } catch (error) {
      if (!(error instanceof MatcherFailed)) throw error;
      return 0;
    }
  }

  /** Proposed tokens up to the one after which the text is no longer free. */
  #countFree(proposed: Int32Array, length: number): number {
    const watch = this.#watch!.fork();
    for (let count = 0; count < length; count++) {
      const tokenId = proposed[count]!;
      if (this.#options.acrossTriggers.includes(tokenId)) return count;
      if (watch.push(tokenId) !== 'free') return count + 1;
    }
    return length;
  }

  /** The answer so far is complete, although more may follow. False when that can no longer be known. */
  canEnd(): boolean {
    if (this.#isFree) return true;
    if (this.#phase !== 'answer' && this.#phase !== 'near') return false;
    try {
      return this.#active.canStop();
    } catch (error) {
      if (!(error instanceof MatcherFailed)) throw error;
      return false;
    }
  }

  /** A copy in the same state, for another choice or to look ahead. */
  fork(): SequenceConstraint {
    return new SequenceConstraint(this.#matcher.fork(), this.#options, this);
  }

  /** Legal any number of times. */
  dispose(): void {
    this.#triggerMatcher?.dispose();
    this.#matcher.dispose();
  }
}

/** Throws: `constraint_failed` for a matcher that failed. */
function guard<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof MatcherFailed)) throw error;
    throw failed(error.message, error);
  }
}

function failed(message: string, cause?: unknown): EngineError {
  return new EngineError('constraint_failed', message, { cause });
}

function hasBit(mask: Uint32Array, id: number): boolean {
  return ((mask[id >>> 5]! >>> (id & 31)) & 1) === 1;
}

function clearBits(mask: Uint32Array, ids: readonly number[]): void {
  for (const id of ids) mask[id >>> 5]! &= ~(1 << (id & 31));
}

function isEmpty(mask: Uint32Array): boolean {
  for (let word = 0; word < mask.length; word++) if (mask[word] !== 0) return false;
  return true;
}

function hasOtherBits(mask: Uint32Array, ids: readonly number[]): boolean {
  for (let word = 0; word < mask.length; word++) {
    let bits = mask[word]!;
    if (bits === 0) continue;
    for (const id of ids) if (id >>> 5 === word) bits &= ~(1 << (id & 31));
    if (bits !== 0) return true;
  }
  return false;
}
