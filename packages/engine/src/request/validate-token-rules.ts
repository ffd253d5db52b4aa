// Validates logit biases and allowed token ids. `../text/bad-words.ts` validates bad words, which need the tokenizer.

import { checkTokenId, checkTokenIds, wrongParameter } from './parameter-checks.ts';
import type { LogitBias, SamplingParams } from './sampling-params.ts';

/** Source: vLLM takes any number and clamps it to this. */
const BIAS_LIMIT = 100;

/** The parameters with biases clamped to ±100 and every id once. Throws: `invalid_request` naming the field. */
export function validateTokenRules(sampling: SamplingParams, vocabSize: number): SamplingParams {
  const { logitBias, allowedTokenIds, ...others } = sampling;
  return {
    ...others,
    ...(logitBias === undefined ? {} : { logitBias: validateLogitBias(logitBias, vocabSize) }),
    ...(allowedTokenIds === undefined
      ? {}
      : { allowedTokenIds: validateAllowedTokenIds(allowedTokenIds, vocabSize) }),
  };
}

/**
 * Refuses parameters that leave no first token.
 * Throws: `invalid_request` when every allowed token is banned; `bannedBy` names the fields that ban them.
 */
export function checkSomeTokenLeft(
  allowedTokenIds: readonly number[] | undefined,
  bannedTokenIds: readonly number[],
  bannedBy: string,
): void {
  if (allowedTokenIds === undefined) return;
  const banned = new Set(bannedTokenIds);
  if (allowedTokenIds.some(id => !banned.has(id))) return;
  const path = 'sampling.allowedTokenIds';
  throw wrongParameter(path, `${path} must hold a token that is not ruled out by ${bannedBy}.`);
}

function validateLogitBias(biases: readonly LogitBias[], vocabSize: number): readonly LogitBias[] {
  const seen = new Set<number>();
  return biases.map(({ tokenId, bias }, index) => {
    const path = `sampling.logitBias[${index}]`;
    checkTokenId(`${path}.tokenId`, tokenId, vocabSize);
    if (seen.has(tokenId)) throw wrongParameter(path, `${path} names token ${tokenId} a second time.`);
    seen.add(tokenId);
    if (typeof bias !== 'number' || Number.isNaN(bias)) {
      throw wrongParameter(`${path}.bias`, `${path}.bias must be a number; got ${bias}.`);
    }
    return { tokenId, bias: Math.min(BIAS_LIMIT, Math.max(-BIAS_LIMIT, bias)) };
  });
}

function validateAllowedTokenIds(ids: readonly number[], vocabSize: number): readonly number[] {
  const path = 'sampling.allowedTokenIds';
  if (ids.length === 0) throw wrongParameter(path, `${path} must hold at least one token id.`);
  checkTokenIds(path, ids, vocabSize);
  return [...new Set(ids)];
}
