// One token stream being generated: a choice of a request. Only `commit-step.ts`, the scheduler with its drafter and the
// cache manager change it; the sampler does while it draws, and takes it back. Everything else reads.

import type { SubmitMessage } from '../protocol/messages.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import type { SequenceConstraint } from './answer-constraint/sequence-constraint.ts';
import { RepetitionDetector } from './repetition-detector.ts';
import { type CounterKey, counterKey } from './sampling/counter-random.ts';
import { createLogitsProcessors, needsTokenCounts } from './sampling/create-logits-processors.ts';
import type { LogitsProcessor } from './sampling/logits-processor.ts';
import { TokenCounts } from './sampling/token-counts.ts';
import { FIRST_RATES, type GuessSource, updateRate } from './speculative-decoding/draft-policy.ts';

const NO_BLOCKS = new Int32Array(0);

/** What the choices of one request share. */
export interface SequenceGroup {
  readonly requestId: number;
  readonly promptTokenIds: Int32Array;
  readonly submitted: SubmitMessage;
  /** Place in the order in which requests came; that of the request which it continues, if it continues one. */
  readonly arrival: number;
  /** When it came. Unit: milliseconds; only differences matter. */
  readonly submittedAtMs: number;
  /** When the first step with something of it began; null before. */
  startedAtMs: number | null;
  /** Choices that have not ended. The request is forgotten when the last one ends. */
  readonly openSequences: Set<Sequence>;
  /** Whether the first token of the request was reported. */
  isPrefilled: boolean;
  /** Prompt tokens that came from the cache when the request first got a slot; null before. */
  cachedTokenCount: number | null;
  /** What the request asks to be done to each row of logits before the draw. */
  readonly logitsProcessors: readonly LogitsProcessor[];
  /** By position in the prompt, as far as they are computed; null for the first. Used only when asked for. */
  readonly promptLogprobs: (TokenLogprobs | null)[];
}

/** A request without choices yet. */
export function createSequenceGroup(message: SubmitMessage, submittedAtMs: number): SequenceGroup {
  const { requestId, continues } = message;
  return {
    requestId,
    promptTokenIds: message.promptTokenIds,
    submitted: message,
    arrival: continues ?? requestId,
    submittedAtMs,
    startedAtMs: null,
    openSequences: new Set(),
    isPrefilled: false,
    cachedTokenCount: null,
    logitsProcessors: createLogitsProcessors(message),
    promptLogprobs: [null],
  };
}

/**
 * Tokens of a sequence as intervals:
 *
 *     [0, promptLength)               the prompt
 *     [promptLength, tokenCount)      generated tokens
 *     [0, computedLength)             tokens whose keys and values are in the cache slot
 *     [computedLength, tokenCount)    pending: what the next steps compute; one token for a decode
 *     [tokenCount, ... + guessLength) no tokens: what probably comes next
 *
 * A preempted sequence has lost its slot: `computedLength` is 0 again and all its tokens are pending.
 */
export class Sequence {
  readonly group: SequenceGroup;
  readonly choiceIndex: number;
  readonly randomKey: CounterKey;
  readonly outputTokenIds: number[] = [];
  /** Of the output; null where the request has no penalties. */
  readonly tokenCounts: TokenCounts | null;
  readonly #repetition: RepetitionDetector | null;
  /** Null where anything may come. Preemption leaves it alone: it follows the output, not the cache. */
  readonly constraint: SequenceConstraint | null;
  computedLength = 0;
  /**
   * Its place among those that are in the cache, or null while waiting. Where the cache has slots, the slot. Set by the
   * cache manager only.
   */
  slot: number | null = null;
  /**
   * Where the cache has blocks: those of its tokens, in their order. Shape: `[most blocks of a sequence]`, of which those
   * of its tokens count. Set by the cache manager only.
   */
  blocks: Int32Array = NO_BLOCKS;
  /** Its reader has fallen behind: it gets no step until the reader has caught up. */
  isPaused = false;
  /** All tokens, with room behind them. The group's own array until the first token is generated. */
  #tokenIds: Int32Array;
  #guessLength = 0;
  #guessSource: GuessSource = 'text';
  readonly #guessRates = { ...FIRST_RATES };
  /** The pending token of a decode, in a form the runner takes without a new array. */
  readonly #lastToken = new Int32Array(1);

  constructor(group: SequenceGroup, choiceIndex: number, constraint: SequenceConstraint | null = null) {
    this.constraint = constraint;
    this.group = group;
    this.choiceIndex = choiceIndex;
    this.randomKey = counterKey(group.submitted.sampling.seed + BigInt(choiceIndex));
    const { submitted, promptTokenIds } = group;
    const { repetitionDetection, maxTokens } = submitted;
    this.#tokenIds = promptTokenIds;
    this.tokenCounts = needsTokenCounts(submitted) ? new TokenCounts() : null;
    this.#repetition =
      repetitionDetection === undefined ? null : new RepetitionDetector(repetitionDetection, maxTokens);
  }

  /** Whether the output ends in a loop of the kind that the request looks for. */
  get isRepeating(): boolean {
    return this.#repetition?.isRepeating ?? false;
  }

  get promptLength(): number {
    return this.group.promptTokenIds.length;
  }

  get tokenCount(): number {
    return this.group.promptTokenIds.length + this.outputTokenIds.length;
  }

  get pendingCount(): number {
    return this.tokenCount - this.computedLength;
  }

  get priority(): number {
    return this.group.submitted.priority ?? 0;
  }

  /** Cached prompts are shared only within a partition. */
  get partition(): string {
    return this.group.submitted.cachePartition ?? '';
  }

  /** Prompt and output. Shape: at least `[tokenCount]`; what lies behind is no token. Valid until the next `append`. */
  get tokenIds(): Int32Array {
    return this.#tokenIds;
  }

  /** How many tokens behind the last one are guessed. */
  get guessLength(): number {
    return this.#guessLength;
  }

  /**
   * Share of tokens that were drawn as they were guessed, of those whose predecessors were; newer ones count more.
   * Guesses from the source of the last `setGuess` only.
   */
  get guessRate(): number {
    return this.#guessRates[this.#guessSource];
  }

  /** The first `count` pending tokens and, beyond them, guessed ones, as a view valid until the sequence changes. */
  pendingTokens(count: number): Int32Array {
    const start = this.computedLength;
    // Of one token after the prompt a view exists already: every decode asks for it.
    if (count === 1 && start === this.tokenCount - 1 && start >= this.promptLength) return this.#lastToken;
    return this.#tokenIds.subarray(start, start + count);
  }

  /** Mutates: appends a generated token, which is then the pending one. */
  append(tokenId: number): void {
    const end = this.tokenCount;
    this.#reserve(end + 1);
    if (this.#guessLength > 0) {
      const isRight = this.#tokenIds[end] === tokenId;
      const source = this.#guessSource;
      this.#guessRates[source] = updateRate(this.#guessRates[source], { isRight });
      this.#guessLength = isRight ? this.#guessLength - 1 : 0;
    }
    this.#tokenIds[end] = tokenId;
    this.outputTokenIds.push(tokenId);
    this.#lastToken[0] = tokenId;
    this.tokenCounts?.add(tokenId);
    this.#repetition?.add(this.outputTokenIds);
  }

  /** Mutates: the first `length` of `tokenIds` are what probably comes next. They are no tokens until appended. */
  setGuess(tokenIds: Int32Array, length: number, source: GuessSource = 'text'): void {
    this.#guessSource = source;
    const end = this.tokenCount;
    this.#reserve(end + length);
    for (let i = 0; i < length; i++) this.#tokenIds[end + i] = tokenIds[i]!;
    this.#guessLength = length;
  }

  /** Mutates: shows the sampler the output with a token that was drawn and is not committed. */
  tryToken(tokenId: number): void {
    this.outputTokenIds.push(tokenId);
    this.tokenCounts?.add(tokenId);
  }

  /** Mutates: takes the last `tryToken` back. */
  untryToken(): void {
    const tokenId = this.outputTokenIds.pop();
    if (tokenId !== undefined) this.tokenCounts?.remove(tokenId);
  }

  /** Mutates: makes room for so many tokens. */
  #reserve(tokenCount: number): void {
    if (tokenCount <= this.#tokenIds.length) return;
    const grown = new Int32Array(tokenCount + Math.max(16, tokenCount >> 1));
    grown.set(this.#tokenIds);
    this.#tokenIds = grown;
  }
}
