// Runs a beam search over a link: each next-token query is a request of its own, which inherits the place of the search
// in the order of service. Caller: `linked-engine.ts`.

import type { CoreLink } from '../../link/core-link.ts';
import type { GenerationEvent } from '../../request/generation-event.ts';
import type { BeamSearch } from '../../request/generation-request.ts';
import { detokenize } from '../../text/detokenizer.ts';
import type { Tokenizer } from '../../text/tokenizer.ts';
import { throwIfAborted } from '../aborted.ts';
import type { OpenRequests } from '../open-requests.ts';
import type { PreparedRequest } from '../request-preparer.ts';
import { createSplitter } from '../request-reasoning.ts';
import { generateBeams } from './beam-generation.ts';
import { NextTokenQuery, type NextTokens, toQueryMessage } from './next-token-query.ts';

/** The parts of the engine that serve the queries of a search. */
export interface BeamSearchSides {
  readonly link: CoreLink;
  readonly requests: OpenRequests;
  readonly tokenizer: Tokenizer;
}

/** The events of a search. Throws: the errors with which the link fails a request, `aborted`. */
export function searchBeams(
  { valid, promptTokenIds, rules, reasoning }: PreparedRequest,
  beamSearch: BeamSearch,
  { link, requests, tokenizer }: BeamSearchSides,
  signal: AbortSignal | undefined,
): AsyncGenerator<GenerationEvent, void, undefined> {
  const { tokenBytes, mainEosTokenId } = tokenizer;
  const { skipSpecialTokens, includeStopInOutput, logprobs } = valid;

  /** Id of the first query, which all others continue. */
  let firstId: number | undefined;

  const askNextTokens = async (tokenIds: Int32Array, topCount: number): Promise<NextTokens> => {
    throwIfAborted(signal);
    const requestId = requests.newId();
    const query = new NextTokenQuery();
    const leave = requests.enter(requestId, query, signal);
    try {
      link.submit(toQueryMessage({ requestId, continues: firstId }, tokenIds, topCount, valid));
      firstId ??= requestId;
      return await query.answer;
    } finally {
      leave();
    }
  };

  return generateBeams({
    promptTokenIds,
    beamSearch,
    maxTokens: rules.maxTokens,
    mainEosTokenId,
    ignoreEos: rules.eosTokenIds.length === 0,
    includeStopInOutput,
    logprobs,
    tokenBytes,
    decode: tokenIds =>
      detokenize(tokenBytes, tokenIds, {
        skipSpecialTokens,
        ...(reasoning !== null && { shownSpecialIds: reasoning.specialIds }),
      }),
    createSplitter: () => createSplitter(reasoning),
    // A search begins with one query, which may be refused like any request.
    askNextTokens: (tokenIdLists, topCount) =>
      Promise.all(tokenIdLists.map(tokenIds => askNextTokens(tokenIds, topCount))),
  });
}
