// The door for requests: fills defaults and refuses what is wrong, naming the parameter. What needs the prompt's
// length is in `settleMaxTokens`; nothing behind this file checks a request again.

import { EngineError } from '../errors.ts';
import type { GenerationRequest } from './generation-request.ts';
import { NEUTRAL_SAMPLING, type SamplingParams, validateSamplingParams } from './sampling-params.ts';

/** What validation needs to know of the model. */
export interface RequestLimits {
  readonly vocabSize: number;
  readonly contextLength: number;
  readonly samplingDefaults: Partial<SamplingParams>;
  /** End-of-sequence ids: the main one first when the tokenizer names one. */
  readonly eosTokenIds: readonly number[];
  readonly mainEosTokenId: number | null;
}

/** A request with every default filled in. */
export interface ValidRequest {
  readonly sampling: SamplingParams;
  readonly choiceCount: number;
  readonly skipSpecialTokens: boolean;
  readonly stopStrings: readonly string[];
  readonly includeStopInOutput: boolean;
  /** End with stop reason null. */
  readonly eosTokenIds: readonly number[];
  /** End with their id as stop reason. */
  readonly stopTokenIds: readonly number[];
  /** Ids that must not be drawn before `minTokens` tokens; empty without a minimum. */
  readonly minTokensBannedIds: readonly number[];
  readonly maxTokens: number | undefined;
  readonly minTokens: number;
}

const STOP_STRING_LIMIT = 64;
/** Unit: UTF-16 code units. Every stop string is searched for at every token. */
const STOP_STRING_LENGTH_LIMIT = 1024;
const STOP_TOKEN_LIMIT = 1024;
const CHOICE_LIMIT = 16_384;

/** Throws: `invalid_request` naming the parameter. */
export function validateGenerationRequest(request: GenerationRequest, limits: RequestLimits): ValidRequest {
  const stop = request.stop ?? {};
  const sampling = validateSamplingParams(request.sampling ?? {}, {
    ...NEUTRAL_SAMPLING,
    ...limits.samplingDefaults,
  });
  const choiceCount = request.choiceCount ?? 1;
  checkCount('choiceCount', choiceCount, 1, CHOICE_LIMIT);
  if (sampling.temperature === 0 && choiceCount > 1) {
    throw wrong('choiceCount', `choiceCount must be 1 when temperature is 0; got ${choiceCount}.`);
  }
  const minTokens = stop.minTokens ?? 0;
  checkCount('stop.minTokens', minTokens, 0, limits.contextLength);
  if (stop.maxTokens !== undefined) {
    checkCount('stop.maxTokens', stop.maxTokens, 1, limits.contextLength);
    if (minTokens > stop.maxTokens) {
      throw wrong(
        'stop.minTokens',
        `stop.minTokens must be at most stop.maxTokens (${stop.maxTokens}); got ${minTokens}.`,
      );
    }
  }
  if (request.prompt.kind === 'tokens')
    checkTokenIds('prompt.tokenIds', request.prompt.tokenIds, limits.vocabSize);
  if (request.prompt.kind === 'chat' && request.prompt.messages.length === 0) {
    throw wrong('prompt.messages', 'prompt.messages must hold at least one message.');
  }
  const askedStopTokenIds = checkStopTokenIds(stop.tokenIds ?? [], limits.vocabSize);
  return {
    sampling,
    choiceCount,
    skipSpecialTokens: request.skipSpecialTokens ?? true,
    stopStrings: checkStopStrings(stop.strings ?? []),
    includeStopInOutput: stop.includeInOutput ?? false,
    ...settleStopTokens(askedStopTokenIds, stop.ignoreEos ?? false, limits),
    // Source: vLLM bans end-of-sequence ids below the minimum even where they would not end the choice.
    minTokensBannedIds: minTokens === 0 ? [] : [...new Set([...limits.eosTokenIds, ...askedStopTokenIds])],
    maxTokens: stop.maxTokens,
    minTokens,
  };
}

/**
 * Most tokens of each choice: what was asked for, when prompt and answer fit; else what the context and the
 * model's own default leave. Throws: `prompt_too_long`, `invalid_request`.
 */
export function settleMaxTokens(
  request: Pick<ValidRequest, 'maxTokens' | 'minTokens'>,
  promptLength: number,
  contextLength: number,
  defaultMaxTokens: number | undefined,
): number {
  if (promptLength === 0) throw wrong('prompt', 'The prompt must not be empty.');
  const room = contextLength - promptLength;
  const asked = request.maxTokens;
  if (room < (asked ?? 1)) {
    const wanted = asked === undefined ? '' : ` and ${asked} tokens were asked for`;
    throw new EngineError(
      'prompt_too_long',
      `The context holds ${contextLength} tokens, but the prompt has ${promptLength}${wanted}.`,
      { parameter: 'prompt' },
    );
  }
  const maxTokens = asked ?? Math.min(room, defaultMaxTokens ?? room);
  if (request.minTokens > maxTokens) {
    throw wrong(
      'stop.minTokens',
      `stop.minTokens must be at most ${maxTokens}, the most tokens left; got ${request.minTokens}.`,
    );
  }
  return maxTokens;
}

/** The main end-of-sequence token gives no stop reason; the model's others act as stop tokens. */
function settleStopTokens(
  asked: readonly number[],
  ignoreEos: boolean,
  limits: RequestLimits,
): Pick<ValidRequest, 'eosTokenIds' | 'stopTokenIds'> {
  if (ignoreEos) return { eosTokenIds: [], stopTokenIds: asked };
  const { mainEosTokenId } = limits;
  const others = limits.eosTokenIds.filter(id => id !== mainEosTokenId);
  return {
    eosTokenIds: mainEosTokenId === null ? [] : [mainEosTokenId],
    stopTokenIds: [...new Set([...others, ...asked])],
  };
}

function checkStopStrings(strings: readonly string[]): readonly string[] {
  if (strings.length > STOP_STRING_LIMIT) {
    throw wrong(
      'stop.strings',
      `stop.strings must hold at most ${STOP_STRING_LIMIT} strings; got ${strings.length}.`,
    );
  }
  for (const [index, text] of strings.entries()) {
    const path = `stop.strings[${index}]`;
    if (text.length === 0) throw wrong(path, `${path} must not be empty.`);
    if (text.length > STOP_STRING_LENGTH_LIMIT) {
      throw wrong(
        path,
        `${path} must have at most ${STOP_STRING_LENGTH_LIMIT} characters; got ${text.length}.`,
      );
    }
    if (!text.isWellFormed())
      throw wrong(path, `${path} must be valid Unicode; it has half a surrogate pair.`);
  }
  return strings;
}

function checkStopTokenIds(ids: readonly number[], vocabSize: number): readonly number[] {
  if (ids.length > STOP_TOKEN_LIMIT) {
    throw wrong(
      'stop.tokenIds',
      `stop.tokenIds must hold at most ${STOP_TOKEN_LIMIT} ids; got ${ids.length}.`,
    );
  }
  checkTokenIds('stop.tokenIds', ids, vocabSize);
  return [...new Set(ids)];
}

function checkTokenIds(path: string, ids: readonly number[], vocabSize: number): void {
  for (const [index, id] of ids.entries()) {
    if (Number.isInteger(id) && id >= 0 && id < vocabSize) continue;
    throw wrong(
      `${path}[${index}]`,
      `${path}[${index}] must be a token id from 0 to ${vocabSize - 1}; got ${id}.`,
    );
  }
}

function checkCount(path: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw wrong(path, `${path} must be a whole number from ${least} to ${most}; got ${value}.`);
}

function wrong(parameter: string, message: string): EngineError {
  return new EngineError('invalid_request', message, { parameter });
}
