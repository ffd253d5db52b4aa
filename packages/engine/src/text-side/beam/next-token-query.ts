// A next-token query: the best next tokens after a list of tokens, as a request of one greedy token whose log probabilities
// are the result. Beam search makes one for each beam and step.

import type { EngineError } from '../../errors.ts';
import type { PrefilledRequest, SequenceUpdate, SubmitMessage } from '../../protocol/messages.ts';
import { NEUTRAL_SAMPLING } from '../../request/sampling-params.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import type { ValidRequest } from '../../request/validate-generation-request.ts';
import type { OpenRequest } from '../open-requests.ts';

export interface NextTokens {
  /** Best first, as many as requested or the vocabulary has. */
  readonly logprobs: TokenLogprobs;
  readonly cachedTokenCount: number;
}

export class NextTokenQuery implements OpenRequest {
  readonly answer: Promise<NextTokens>;
  isOver = false;
  #cachedTokenCount = 0;
  readonly #resolve: (answer: NextTokens) => void;
  readonly #reject: (error: EngineError) => void;

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<NextTokens>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start({ cachedTokenCount }: PrefilledRequest): void {
    this.#cachedTokenCount = cachedTokenCount;
  }

  update({ logprobs }: SequenceUpdate): void {
    const [first] = logprobs ?? [];
    if (first === undefined || this.isOver) return;
    this.isOver = true;
    this.#resolve({ logprobs: first, cachedTokenCount: this.#cachedTokenCount });
  }

  fail(error: EngineError): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#reject(error);
  }
}

/** The message of a query. `continues`: the first query of the search; `valid`: the request that the search serves. */
export function toQueryMessage(
  { requestId, continues }: { readonly requestId: number; readonly continues: number | undefined },
  tokenIds: Int32Array,
  topCount: number,
  { priority, share, cachePartition }: Pick<ValidRequest, 'priority' | 'share' | 'cachePartition'>,
): SubmitMessage {
  return {
    kind: 'submit',
    requestId,
    ...(continues !== undefined && { continues }),
    promptTokenIds: tokenIds,
    choiceCount: 1,
    sampling: { ...NEUTRAL_SAMPLING, temperature: 0, seed: 0n },
    maxTokens: 1,
    minTokens: 0,
    eosTokenIds: [],
    stopTokenIds: [],
    minTokensBannedIds: [],
    logprobs: { topCount },
    priority,
    share,
    cachePartition,
  };
}
