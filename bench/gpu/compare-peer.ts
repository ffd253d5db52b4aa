// What a peer's numbers are worth beside ours: whether it computes the same model, and what share of the memory's speed it
// reaches.

import type { Engine } from '@ortler/engine';
import { rounded } from '../rounded.ts';
import { bandwidthShare } from './bandwidth-share.ts';
import { compareLogprobs, type LogprobDifference, promptLogprobs } from './check-device.ts';
import { DECODE_PROMPT_LENGTH, greedyTokens } from './measure-device.ts';
import type { PeerReport } from './python-peer.ts';

/** Steps in which greedy tokens are compared: with random weights, float16 soon takes two engines apart. */
export const COMPARED_STEPS = 8;

/** Of our model in the peer's precision. */
export interface PeerReference {
  readonly promptLogprobs: readonly number[];
  /** First tokens after the first stream's prompt. */
  readonly tokenIds: readonly number[];
}

export async function readPeerReference(engine: Engine): Promise<PeerReference> {
  return {
    promptLogprobs: await promptLogprobs(engine),
    tokenIds: await greedyTokens(engine, DECODE_PROMPT_LENGTH, COMPARED_STEPS),
  };
}

export interface PeerResult {
  readonly check: LogprobDifference;
  /** Greedy tokens of the first stream that are equal before the first difference. */
  readonly equalTokenCount: number;
  readonly [key: string]: unknown;
}

/** Throws: when log probabilities differ by more than float16 explains. */
export function comparePeer(
  { promptLogprobs: logprobs, decode, prefill, ...facts }: PeerReport & { readonly weightBytes: number },
  reference: PeerReference,
  bytesPerSecond: number,
): PeerResult {
  const [first] = decode;
  const tokenIds = first !== undefined && 'tokenIds' in first ? first.tokenIds : [];
  const different = reference.tokenIds.findIndex((tokenId, index) => tokenId !== tokenIds[index]);
  return {
    ...facts,
    check: compareLogprobs(logprobs, reference.promptLogprobs, 'The peer'),
    equalTokenCount: different < 0 ? reference.tokenIds.length : different,
    decode: decode.map(entry => {
      if ('error' in entry) return entry;
      const { streamCount, tokensPerSecond } = entry;
      const share = bandwidthShare({ streamCount, tokensPerSecond }, facts.weightBytes, bytesPerSecond);
      return { streamCount, tokensPerSecond: rounded(tokensPerSecond), shareOfBandwidth: share };
    }),
    prefill: prefill.map(entry => ({ ...entry, tokensPerSecond: rounded(entry.tokensPerSecond) })),
  };
}
