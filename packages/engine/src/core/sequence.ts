// One token stream being generated: a choice of a request. Two places change sequences and their groups: the scheduler
// (admit, preempt, release, pause) between steps, and `step/commit-step.ts` at the end of one. Everything else reads.

import type { SubmitMessage } from '../protocol/messages.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import type { SequenceConstraint } from './answer-constraint/sequence-constraint.ts';
import { RepetitionDetector } from './repetition-detector.ts';
import type { RowStates } from './runners/model-runner.ts';
import { type CounterKey, counterKey } from './sampling/counter-random.ts';
import { createLogitsProcessors, needsTokenCounts } from './sampling/create-logits-processors.ts';
import type { LogitsProcessor } from './sampling/logits-processor.ts';
import { TokenCounts } from './sampling/token-counts.ts';
import { AcceptanceRates } from './speculative-decoding/acceptance-rates.ts';

/** Minimum number of generated tokens by which the token array grows. */
const MIN_GROWTH = 16;

/** For sequences outside the cache, and for caches of slots. */
export const NO_BLOCKS = new Int32Array(0);

/** The location of the keys and values of a sequence. Owned by the cache manager, which may move them between steps. */
export interface CachePlace {
  /** Index among the sequences in the cache. Where the cache has slots, the slot. */
  readonly slot: number;
  /**
   * Block table of the sequence, in the order of its tokens, where the cache has blocks. Shape: `[maximum
   * number of blocks of a sequence]`; only the blocks of its tokens are valid.
   */
  readonly blocks: Int32Array;
  /** With a recurrent model: the states that the next row reads and writes. */
  readonly rowStates?: RowStates | undefined;
}

/** The state shared by the choices of one request. */
export interface SequenceGroup {
  readonly requestId: number;
  readonly promptTokenIds: Int32Array;
  readonly submitted: SubmitMessage;
  /** Position in the order of arrival; that of the request which it continues, if it continues one. */
  readonly arrival: number;
  /** Its turn among all shares; see `scheduler/fair-share.ts`. Unit: tokens. */
  readonly virtualStart: number;
  /** Time of arrival. Unit: milliseconds; only differences matter. */
  readonly submittedAtMs: number;
  /** Time at which its first row was scheduled; null before. */
  startedAtMs: number | null;
  /** Choices that have not ended. The request is forgotten when the last one ends. */
  readonly openSequences: Set<Sequence>;
  /** Whether the first token of the request was reported. */
  isPrefilled: boolean;
  /** Prompt tokens that were cache hits when the request was first admitted; null before. */
  cachedTokenCount: number | null;
  /** The edits of each row of logits that the request asks for. */
  readonly logitsProcessors: readonly LogitsProcessor[];
  /** By position in the prompt, as far as they are computed; null for the first. Used only when requested. */
  readonly promptLogprobs: (TokenLogprobs | null)[];
}

/** A request without choices yet. */
export function createSequenceGroup(
  message: SubmitMessage,
  submittedAtMs: number,
  virtualStart = 0,
): SequenceGroup {
  const { requestId, continues } = message;
  return {
    requestId,
    promptTokenIds: message.promptTokenIds,
    submitted: message,
    arrival: continues ?? requestId,
    virtualStart,
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
 *     [0, promptLength)             the prompt
 *     [promptLength, tokenCount)    generated tokens
 *     [0, computedLength)           tokens whose keys and values are in the cache
 *     [computedLength, tokenCount)  pending: what the next steps compute; one token for a decode
 *
 * A preempted sequence has lost its place in the cache: `computedLength` is 0 again and all its tokens are pending.
 */
export class Sequence {
  readonly group: SequenceGroup;
  readonly choiceIndex: number;
  readonly randomKey: CounterKey;
  readonly outputTokenIds: number[] = [];
  /** Counts of the output tokens; null where the request has no penalties. */
  readonly tokenCounts: TokenCounts | null;
  /** Null without a constraint. Preemption leaves it alone: it follows the output, not the cache. */
  readonly constraint: SequenceConstraint | null;
  /** Acceptance rates of its drafts. */
  readonly acceptance = new AcceptanceRates();
  /** Null while the sequence waits to be admitted. */
  place: CachePlace | null = null;
  computedLength = 0;
  /** Its reader is too slow: it gets no step until the reader has caught up. */
  isPaused = false;
  readonly #repetition: RepetitionDetector | null;
  /** All tokens, with spare capacity after them. The group's array until the first token is generated. */
  #tokenIds: Int32Array;

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

  /** Its index among the sequences in the cache, or null while it waits. */
  get slot(): number | null {
    return this.place === null ? null : this.place.slot;
  }

  get blocks(): Int32Array {
    return this.place?.blocks ?? NO_BLOCKS;
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

  /** Whether log probabilities of the prompt are requested and not reported yet. */
  get wantsPromptLogprobs(): boolean {
    return this.group.submitted.promptLogprobs !== undefined && !this.group.isPrefilled;
  }

  /** Cached prompts are shared only within a partition. */
  get partition(): string {
    return this.group.submitted.cachePartition ?? '';
  }

  /**
   * Prompt and output. Shape: at least `[tokenCount]`; what follows is not part of it. Valid until the next
   * `append`.
   */
  get tokenIds(): Int32Array {
    return this.#tokenIds;
  }

  /** The first `count` pending tokens: a view that later tokens do not change. */
  pendingTokens(count: number): Int32Array {
    return this.#tokenIds.subarray(this.computedLength, this.computedLength + count);
  }

  /** Mutates: gives it a place in the cache, which holds its first `computedLength` tokens already. */
  enterCache(place: CachePlace, computedLength: number): void {
    this.place = place;
    this.computedLength = computedLength;
  }

  /** Mutates: all its tokens are pending again. */
  leaveCache(): void {
    this.place = null;
    this.computedLength = 0;
  }

  /** Mutates: appends a generated token, which is then the pending one. */
  append(tokenId: number): void {
    const end = this.tokenCount;
    this.#reserve(end + 1);
    this.#tokenIds[end] = tokenId;
    this.outputTokenIds.push(tokenId);
    this.tokenCounts?.add(tokenId);
    this.#repetition?.add(this.outputTokenIds);
  }

  /** Mutates: grows the token array to at least that many tokens. */
  #reserve(tokenCount: number): void {
    if (tokenCount <= this.#tokenIds.length) return;
    const grown = new Int32Array(tokenCount + Math.max(MIN_GROWTH, tokenCount >> 1));
    grown.set(this.#tokenIds);
    this.#tokenIds = grown;
  }
}
