// One token stream being generated: a choice of a request. Only `commit-step.ts` and the scheduler's admission
// and release change it; everything else reads.

import type { SubmitMessage, TokenLogprobs } from '../link/messages.ts';
import { RepetitionDetector } from './repetition-detector.ts';
import { type CounterKey, counterKey } from './sampling/counter-random.ts';
import {
  createLogitsProcessors,
  type LogitsProcessor,
  needsTokenCounts,
} from './sampling/logits-processor.ts';
import { TokenCounts } from './sampling/token-counts.ts';

/** What the choices of one request share. */
export interface SequenceGroup {
  readonly requestId: number;
  readonly promptTokenIds: Int32Array;
  readonly submitted: SubmitMessage;
  /** Choices that have not ended. The request is forgotten when the last one ends. */
  readonly openSequences: Set<Sequence>;
  /** Whether the first token of the request was reported. */
  isPrefilled: boolean;
  /** What the request asks to be done to each row of logits before the draw. */
  readonly logitsProcessors: readonly LogitsProcessor[];
  /** By position in the prompt, as far as they are computed; null for the first. Used only when asked for. */
  readonly promptLogprobs: (TokenLogprobs | null)[];
}

/** A request without choices yet. */
export function createSequenceGroup(message: SubmitMessage): SequenceGroup {
  return {
    requestId: message.requestId,
    promptTokenIds: message.promptTokenIds,
    submitted: message,
    openSequences: new Set(),
    isPrefilled: false,
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
 */
export class Sequence {
  readonly group: SequenceGroup;
  readonly choiceIndex: number;
  readonly randomKey: CounterKey;
  readonly outputTokenIds: number[] = [];
  /** Of the output; null where the request has no penalties. */
  readonly tokenCounts: TokenCounts | null;
  readonly #repetition: RepetitionDetector | null;
  computedLength = 0;
  /** Cache slot, or null while waiting. Set by the slot table only. */
  slot: number | null = null;
  /** The pending token of a decode, in a form the runner takes without a new array. */
  readonly #lastToken = new Int32Array(1);

  constructor(group: SequenceGroup, choiceIndex: number) {
    this.group = group;
    this.choiceIndex = choiceIndex;
    this.randomKey = counterKey(group.submitted.sampling.seed + BigInt(choiceIndex));
    const { submitted } = group;
    const { repetitionDetection, maxTokens } = submitted;
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

  /** The first `count` pending tokens, as a view that is valid until the sequence changes. */
  pendingTokens(count: number): Int32Array {
    const start = this.computedLength;
    if (start + count <= this.promptLength) return this.group.promptTokenIds.subarray(start, start + count);
    return this.#lastToken;
  }

  /** Mutates: appends a generated token, which is then the pending one. */
  append(tokenId: number): void {
    this.outputTokenIds.push(tokenId);
    this.#lastToken[0] = tokenId;
    this.tokenCounts?.add(tokenId);
    this.#repetition?.add(this.outputTokenIds);
  }
}
