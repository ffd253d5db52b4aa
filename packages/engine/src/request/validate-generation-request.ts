// Validates requests once: fills defaults and refuses wrong values, naming the parameter. `settleMaxTokens` does the part
// that needs the prompt's length; no later code checks a request again.

import type { EngineError } from '../errors.ts';
import type { ChatMessage } from './chat-message.ts';
import { checkShape } from './check-shape.ts';
import { describeValue } from './describe-value.ts';
import type { BeamSearch, GenerationRequest, LogprobsRequest, Prompt } from './generation-request.ts';
import { checkCount, checkTokenIds, wrongParameter } from './parameter-checks.ts';
import { promptTooLong } from './prompt-too-long.ts';
import { checkRequestShape } from './request-shape.ts';
import { NEUTRAL_SAMPLING, type SamplingParams, validateSamplingParams } from './sampling-params.ts';
import type { TokenRules } from './token-rules.ts';
import { validateBeamSearch, validateLogprobs, validateRepetitionDetection } from './validate-reports.ts';
import { checkSomeTokenLeft, validateTokenRules } from './validate-token-rules.ts';
import { type ValidTools, validateTools } from './validate-tools.ts';

/** Facts of the model that validation needs. */
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
  /** The requested limit; the rest of the context is known only with the prompt's length. */
  readonly maxTokens: number | undefined;
  /** All that needs neither the prompt nor the tokenizer. */
  readonly rules: Omit<TokenRules, 'maxTokens'>;
  readonly logprobs: LogprobsRequest | undefined;
  readonly promptLogprobs: LogprobsRequest | undefined;
  readonly beamSearch: BeamSearch | undefined;
  readonly tools: ValidTools | undefined;
  readonly priority: number;
  readonly share: string;
  readonly cachePartition: string;
}

const STOP_STRING_LIMIT = 64;
/** Unit: UTF-16 code units. Every stop string is searched for at every token. */
const STOP_STRING_LENGTH_LIMIT = 1024;
const STOP_TOKEN_LIMIT = 1024;
const CHOICE_LIMIT = 16_384;

/** Throws: `invalid_request` naming the parameter. */
export function validateGenerationRequest(request: GenerationRequest, limits: RequestLimits): ValidRequest {
  checkRequestShape(request);
  const stop = request.stop ?? {};
  const { beamSearch, logprobs, promptLogprobs, priority = 0 } = request;
  checkPrompt(request.prompt, limits.vocabSize);
  const sampling = validateTokenRules(
    validateSamplingParams(request.sampling ?? {}, { ...NEUTRAL_SAMPLING, ...limits.samplingDefaults }),
    limits.vocabSize,
  );
  if (beamSearch !== undefined) validateBeamSearch(beamSearch);
  if (beamSearch !== undefined && request.constraint !== undefined)
    throw wrongParameter('constraint', 'A beam search cannot follow a constraint: leave one of them out.');
  if (logprobs !== undefined) validateLogprobs('logprobs', logprobs);
  if (promptLogprobs !== undefined) validateLogprobs('promptLogprobs', promptLogprobs);
  checkCount('priority', priority, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const minTokens = settleMinTokens(request, limits.contextLength);
  const askedStopTokenIds = checkStopTokenIds(stop.tokenIds ?? [], limits.vocabSize);
  // Source: vLLM bans end-of-sequence ids below the minimum even where they would not end the choice.
  const minTokensBannedIds =
    minTokens === 0 ? [] : [...new Set([...limits.eosTokenIds, ...askedStopTokenIds])];
  checkSomeTokenLeft(sampling.allowedTokenIds, minTokensBannedIds, 'stop.minTokens');
  return {
    sampling,
    choiceCount: settleChoiceCount(request, sampling),
    skipSpecialTokens: request.skipSpecialTokens ?? true,
    stopStrings: checkStopStrings(stop.strings ?? []),
    includeStopInOutput: stop.includeInOutput ?? false,
    maxTokens: stop.maxTokens,
    rules: {
      ...settleStopTokens(askedStopTokenIds, { ignoreEos: stop.ignoreEos ?? false }, limits),
      minTokensBannedIds,
      minTokens,
      repetitionDetection: validateRepetitionDetection(request.repetitionDetection),
    },
    logprobs,
    promptLogprobs,
    beamSearch,
    tools: validateTools(request),
    priority,
    share: request.share ?? '',
    cachePartition: request.cachePartition ?? '',
  };
}

/**
 * Maximum number of tokens in each choice: the requested limit, which must fit the context with the prompt,
 * or else the lower of the rest of the context and the model's own default. Throws: `prompt_too_long`,
 * `invalid_request`.
 */
export function settleMaxTokens(
  { maxTokens: asked, rules: { minTokens } }: ValidRequest,
  promptLength: number,
  contextLength: number,
  defaultMaxTokens: number | undefined,
): number {
  if (promptLength === 0) throw wrongParameter('prompt', 'The prompt must not be empty.');
  const available = contextLength - promptLength;
  if (available < (asked ?? 1)) throw promptTooLong({ contextLength, promptLength, maxTokens: asked });
  const maxTokens = asked ?? Math.min(available, defaultMaxTokens ?? available);
  if (minTokens > maxTokens) {
    throw wrongParameter(
      'stop.minTokens',
      `stop.minTokens must be at most ${maxTokens}, the most tokens left; got ${minTokens}.`,
    );
  }
  return maxTokens;
}

/** Ids and messages of a prompt that has the shape of one. Throws: `invalid_request` naming the place. */
export function checkPrompt(prompt: Prompt, vocabSize: number): void {
  if (typeof prompt === 'string') return;
  if (prompt.tokenIds !== undefined) checkTokenIds('prompt.tokenIds', prompt.tokenIds, vocabSize);
  if (prompt.messages !== undefined) checkMessages(prompt.messages);
}

function checkMessages(messages: readonly ChatMessage[]): void {
  if (messages.length === 0)
    throw wrongParameter('prompt.messages', 'prompt.messages must hold at least one message.');
  for (const [index, { role, content }] of messages.entries()) {
    checkShape(`prompt.messages[${index}].role`, role ?? null, 'text');
    if (typeof content === 'string') continue;
    if (!Array.isArray(content)) throw wrongContent(index, content);
    const part = content.findIndex(item => item?.type !== 'text' || typeof item.text !== 'string');
    if (part === -1) continue;
    const path = `prompt.messages[${index}].content[${part}]`;
    const type = content[part]?.type;
    if (type === 'text') throw wrongParameter(path, `${path}.text must be text.`);
    throw wrongParameter(path, `${path}.type must be text; got ${type}.`);
  }
}

function wrongContent(index: number, content: unknown): EngineError {
  const path = `prompt.messages[${index}].content`;
  return wrongParameter(
    path,
    `${path} must be text or a list of parts of text; got ${describeValue(content)}.`,
  );
}

/** A search gives as many choices as it keeps beams, at any temperature. */
function settleChoiceCount(request: GenerationRequest, sampling: SamplingParams): number {
  const { beamSearch } = request;
  const choiceCount = request.choiceCount ?? beamSearch?.width ?? 1;
  checkCount('choiceCount', choiceCount, 1, CHOICE_LIMIT);
  if (beamSearch !== undefined && choiceCount !== beamSearch.width) {
    throw wrongParameter(
      'choiceCount',
      `choiceCount must be left out or equal beamSearch.width (${beamSearch.width}); got ${choiceCount}.`,
    );
  }
  if (beamSearch === undefined && sampling.temperature === 0 && choiceCount > 1) {
    throw wrongParameter('choiceCount', `choiceCount must be 1 when temperature is 0; got ${choiceCount}.`);
  }
  return choiceCount;
}

/** The minimum has no effect on a beam search, whatever its value. */
function settleMinTokens({ stop = {}, beamSearch }: GenerationRequest, contextLength: number): number {
  const { minTokens = 0, maxTokens } = stop;
  checkCount('stop.minTokens', minTokens, 0, contextLength);
  if (maxTokens !== undefined) checkCount('stop.maxTokens', maxTokens, 1, contextLength);
  if (beamSearch !== undefined) return 0;
  if (maxTokens !== undefined && minTokens > maxTokens) {
    throw wrongParameter(
      'stop.minTokens',
      `stop.minTokens must be at most stop.maxTokens (${maxTokens}); got ${minTokens}.`,
    );
  }
  return minTokens;
}

/** The main end-of-sequence token has no stop reason; the model's other ones act as stop tokens. */
function settleStopTokens(
  asked: readonly number[],
  { ignoreEos }: { readonly ignoreEos: boolean },
  limits: RequestLimits,
): Pick<TokenRules, 'eosTokenIds' | 'stopTokenIds'> {
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
    throw wrongParameter(
      'stop.strings',
      `stop.strings must hold at most ${STOP_STRING_LIMIT} strings; got ${strings.length}.`,
    );
  }
  for (const [index, text] of strings.entries()) {
    const path = `stop.strings[${index}]`;
    if (text.length === 0) throw wrongParameter(path, `${path} must not be empty.`);
    if (text.length > STOP_STRING_LENGTH_LIMIT) {
      throw wrongParameter(
        path,
        `${path} must have at most ${STOP_STRING_LENGTH_LIMIT} characters; got ${text.length}.`,
      );
    }
    if (!text.isWellFormed())
      throw wrongParameter(path, `${path} must be valid Unicode; it has half a surrogate pair.`);
  }
  return strings;
}

function checkStopTokenIds(ids: readonly number[], vocabSize: number): readonly number[] {
  if (ids.length > STOP_TOKEN_LIMIT) {
    throw wrongParameter(
      'stop.tokenIds',
      `stop.tokenIds must hold at most ${STOP_TOKEN_LIMIT} ids; got ${ids.length}.`,
    );
  }
  checkTokenIds('stop.tokenIds', ids, vocabSize);
  return [...new Set(ids)];
}
