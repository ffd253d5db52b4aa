// A request -> everything about it that is known before the token side hears of it: checked values, tokens of prompt and
// words, and how many tokens may come. What is wrong is refused here. Caller: `linked-engine.ts`.

import type { EngineInfo } from '../engine.ts';
import { checkSignal } from '../request/check-request-shape.ts';
import type { GenerationRequest } from '../request/generation-request.ts';
import {
  type RequestLimits,
  settleMaxTokens,
  type ValidRequest,
  validateGenerationRequest,
} from '../request/validate-generation-request.ts';
import { checkSomeTokenLeft } from '../request/validate-token-rules.ts';
import { tokenizeBadWords } from '../text/bad-words.ts';
import type { PromptEncoder } from '../text/prompt-encoder.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { truncatePrompt } from '../text/truncate-prompt.ts';
import { throwIfAborted } from './aborted.ts';
import { type RequestReasoning, readReasoning } from './request-reasoning.ts';

export interface PreparedRequest {
  readonly valid: ValidRequest;
  readonly promptTokenIds: Int32Array;
  readonly badTokenSequences: readonly (readonly number[])[];
  readonly maxTokens: number;
  /** Null when the output is not split. */
  readonly reasoning: RequestReasoning | null;
}

export interface RequestPreparerParts {
  readonly info: EngineInfo;
  readonly tokenizer: Tokenizer;
  readonly prompts: PromptEncoder;
  /** `max_new_tokens` of generation_config.json. */
  readonly defaultMaxTokens: number | undefined;
}

export class RequestPreparer {
  readonly #parts: RequestPreparerParts;
  readonly #limits: RequestLimits;

  constructor(parts: RequestPreparerParts) {
    const { vocabSize, contextLength, samplingDefaults, eosTokenIds } = parts.info;
    const { mainEosTokenId } = parts.tokenizer;
    this.#parts = parts;
    this.#limits = { vocabSize, contextLength, samplingDefaults, eosTokenIds, mainEosTokenId };
  }

  /** Throws: `invalid_request`, `prompt_too_long`, `template_failed`, `aborted`. */
  async prepare(request: GenerationRequest, signal: AbortSignal | undefined): Promise<PreparedRequest> {
    const { prompts, defaultMaxTokens } = this.#parts;
    const { contextLength } = this.#limits;
    checkSignal(signal);
    throwIfAborted(signal);
    const valid = validateGenerationRequest(request, this.#limits);
    const badTokenSequences = await this.#tokenizeBadWords(valid);
    const keep = request.truncatePromptTokens;
    const encoded = await prompts.encodePrompt(request.prompt, signal, { mayOverflow: keep !== undefined });
    const promptTokenIds = truncatePrompt(encoded, { keep, maxTokens: valid.maxTokens, contextLength });
    const maxTokens = settleMaxTokens(valid, promptTokenIds.length, contextLength, defaultMaxTokens);
    throwIfAborted(signal);
    const { info, tokenizer } = this.#parts;
    const reasoning = readReasoning(info.reasoningFormat, request.prompt, promptTokenIds, tokenizer);
    return { valid, promptTokenIds, badTokenSequences, maxTokens, reasoning };
  }

  async #tokenizeBadWords(valid: ValidRequest): Promise<readonly (readonly number[])[]> {
    if (valid.beamSearch !== undefined) return [];
    const sequences = await tokenizeBadWords(this.#parts.tokenizer, valid.badWords);
    const bannedAlone = sequences.flatMap(sequence => (sequence.length === 1 ? sequence : []));
    const banned = [...bannedAlone, ...valid.minTokensBannedIds];
    checkSomeTokenLeft(valid.sampling.allowedTokenIds, banned, 'badWords and stop.minTokens');
    return sequences;
  }
}
