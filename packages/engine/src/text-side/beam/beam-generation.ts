// The events of a beam search: every answer whole, after the search has ended. Each step queries the token side for the best
// next tokens of each live beam. The prefix cache makes that cheap but is not required.

import type { GenerationEvent } from '../../request/generation-event.ts';
import type { BeamSearch as BeamSearchRequest, LogprobsRequest } from '../../request/generation-request.ts';
import type { TokenLogprobs } from '../../request/token-logprobs.ts';
import { toTokenLogprob } from '../../text/logprob-text.ts';
import type { ReasoningSplitter } from '../../text/reasoning/reasoning-splitter.ts';
import type { TokenBytes } from '../../text/token-bytes.ts';
import { splitDelta } from '../request-reasoning.ts';
import { BeamSearch, type FinishedBeam, stepsOf } from './beam-search.ts';
import type { NextTokens } from './next-token-query.ts';

export interface BeamGenerationOptions {
  readonly promptTokenIds: Int32Array;
  readonly beamSearch: BeamSearchRequest;
  readonly maxTokens: number;
  readonly mainEosTokenId: number | null;
  readonly ignoreEos: boolean;
  readonly includeStopInOutput: boolean;
  readonly logprobs: LogprobsRequest | undefined;
  readonly tokenBytes: TokenBytes;
  /** Text of a whole answer. */
  readonly decode: (tokenIds: Int32Array) => string;
  /** The splitter of one answer. */
  readonly createSplitter: () => ReasoningSplitter;
  /** The `topCount` best tokens after each list of tokens. */
  readonly askNextTokens: (
    tokenIdLists: readonly Int32Array[],
    topCount: number,
  ) => Promise<readonly NextTokens[]>;
}

/** Throws: what `askNextTokens` throws. */
export async function* generateBeams(
  options: BeamGenerationOptions,
): AsyncGenerator<GenerationEvent, void, undefined> {
  const { promptTokenIds, beamSearch, mainEosTokenId, logprobs } = options;
  const search = new BeamSearch({
    ...beamSearch,
    promptTokenIds,
    maxTokens: options.maxTokens,
    eosTokenId: mainEosTokenId,
    ignoreEos: options.ignoreEos,
    keepsEos: options.includeStopInOutput,
  });
  const topCount = Math.max(search.candidateCount, logprobs?.topCount ?? 0);
  let cachedTokenCount: number | null = null;
  while (!search.isDone) {
    const found = await options.askNextTokens(
      search.liveBeams.map(({ tokenIds }) => tokenIds),
      topCount,
    );
    if (cachedTokenCount === null) {
      cachedTokenCount = found[0]!.cachedTokenCount;
      yield { kind: 'prompt-ready', promptTokenIds: Array.from(promptTokenIds), cachedTokenCount };
    }
    search.advance(found.map(next => next.logprobs));
  }
  let completionTokenCount = 0;
  for (const [choiceIndex, beam] of search.answers().entries()) {
    const tokenIds = Array.from(beam.tokenIds.subarray(promptTokenIds.length));
    completionTokenCount += tokenIds.length;
    const splitter = options.createSplitter();
    const text = options.decode(textTokensOf(beam, options));
    const { reasoning, answer } = splitDelta(splitter, text, { isLast: true });
    yield {
      kind: 'token-delta',
      choiceIndex,
      text: answer,
      reasoning,
      isReasoning: splitter.isReasoning,
      tokenIds,
      ...(logprobs !== undefined && {
        logprobs: stepsOf(beam).map(step =>
          toTokenLogprob(options.tokenBytes, cutTop(step, logprobs.topCount)),
        ),
      }),
      finish: { reason: beam.reason, stopReason: beam.reason === 'stop' ? mainEosTokenId : null },
    };
  }
  yield {
    kind: 'request-finish',
    usage: {
      promptTokenCount: promptTokenIds.length,
      completionTokenCount,
      cachedTokenCount: cachedTokenCount ?? 0,
    },
  };
}

/** The generated tokens without the one that ended the beam. */
function textTokensOf(beam: FinishedBeam, options: BeamGenerationOptions): Int32Array {
  const endsInKeptEos = beam.reason === 'stop' && options.includeStopInOutput;
  return beam.tokenIds.subarray(options.promptTokenIds.length, beam.tokenIds.length - Number(endsInKeptEos));
}

function cutTop(step: TokenLogprobs, topCount: number): TokenLogprobs {
  const { topTokenIds, topLogprobs } = step;
  return {
    ...step,
    topTokenIds: topTokenIds.subarray(0, topCount),
    topLogprobs: topLogprobs.subarray(0, topCount),
  };
}
