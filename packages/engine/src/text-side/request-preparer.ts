// Prepares a request before it is submitted: validates it, encodes its prompt and bad words, and settles its token limit.
// Wrong requests are refused here. Caller: `linked-engine.ts`.

import type { EncodePromptOptions, EngineInfo } from '../engine.ts';
import type { ChatMessage, ChatTemplateOptions } from '../request/chat-message.ts';
import type { GenerationRequest, Prompt } from '../request/generation-request.ts';
import { checkRequestShape } from '../request/request-shape.ts';
import type { TokenRules } from '../request/token-rules.ts';
import {
  checkPrompt,
  type RequestLimits,
  settleMaxTokens,
  type ValidRequest,
  validateGenerationRequest,
} from '../request/validate-generation-request.ts';
import { checkSomeTokenLeft } from '../request/validate-token-rules.ts';
import { validateTools } from '../request/validate-tools.ts';
import { tokenizeBadWords, validateBadWords } from '../text/bad-words.ts';
import type { ChatTemplates } from '../text/chat-template.ts';
import type { PromptEncoder } from '../text/prompt-encoder.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import type { ToolDialects } from '../text/tools/tool-dialects.ts';
import { truncatePrompt } from '../text/truncate-prompt.ts';
import { throwIfAborted } from './aborted.ts';
import { type RequestReasoning, readReasoning } from './request-reasoning.ts';
import { type RequestTools, readTools, type ToolDependencies } from './request-tools.ts';

export interface PreparedRequest {
  readonly valid: ValidRequest;
  readonly promptTokenIds: Int32Array;
  readonly rules: TokenRules;
  /** Null when the output is not split. */
  readonly reasoning: RequestReasoning | null;
  /** Null without tools. */
  readonly tools: RequestTools | null;
}

export interface RequestPreparerParts {
  readonly info: EngineInfo;
  readonly tokenizer: Tokenizer;
  readonly prompts: PromptEncoder;
  readonly templates: ChatTemplates;
  readonly dialects: ToolDialects;
  /** `max_new_tokens` of generation_config.json. */
  readonly defaultMaxTokens: number | undefined;
}

export class RequestPreparer {
  readonly #parts: RequestPreparerParts;
  readonly #limits: RequestLimits;
  readonly #toolDependencies: ToolDependencies;

  constructor(parts: RequestPreparerParts) {
    const { vocabSize, contextLength, samplingDefaults, eosTokenIds } = parts.info;
    const { mainEosTokenId } = parts.tokenizer;
    this.#parts = parts;
    this.#toolDependencies = parts;
    this.#limits = { vocabSize, contextLength, samplingDefaults, eosTokenIds, mainEosTokenId };
  }

  /** Throws: `invalid_request`, `prompt_too_long`, `template_failed`, `aborted`. */
  async prepare(request: GenerationRequest, signal: AbortSignal | undefined): Promise<PreparedRequest> {
    const { prompts, defaultMaxTokens } = this.#parts;
    const { contextLength } = this.#limits;
    throwIfAborted(signal);
    const valid = validateGenerationRequest(request, this.#limits);
    const badTokenSequences = await this.#tokenizeBadWords(request, valid);
    const keep = request.truncatePromptTokens;
    const { prompt, tools } = readTools(request, valid.tools, this.#toolDependencies);
    const encoded = await prompts.encodePrompt(prompt, signal, {
      mayOverflow: keep !== undefined,
      share: request.share,
    });
    const promptTokenIds = truncatePrompt(encoded, { keep, maxTokens: valid.maxTokens, contextLength });
    const maxTokens = settleMaxTokens(valid, promptTokenIds.length, contextLength, defaultMaxTokens);
    throwIfAborted(signal);
    const { info, tokenizer } = this.#parts;
    const reasoning = readReasoning(info.reasoningFormat, request.prompt, promptTokenIds, tokenizer);
    const rules = { ...valid.rules, badTokenSequences, maxTokens };
    return { valid, promptTokenIds, rules, reasoning, tools };
  }

  /** The text of a conversation. Throws: `invalid_request`, `template_failed`. */
  async renderChat(messages: readonly ChatMessage[], template?: ChatTemplateOptions): Promise<string> {
    const prompt: Prompt = { messages, ...(template !== undefined && { template }) };
    checkRequestShape({ prompt });
    checkPrompt(prompt, this.#limits.vocabSize);
    return this.#parts.prompts.renderChat(messages, template);
  }

  /** Token ids of a prompt, of any length. Throws: `invalid_request`, `template_failed`. */
  async encodePrompt(
    asked: Prompt,
    { tools, signal, share }: Pick<EncodePromptOptions, 'tools' | 'signal' | 'share'>,
  ): Promise<Int32Array> {
    const request = { prompt: asked, ...(tools !== undefined && { tools }) };
    checkRequestShape(request);
    checkPrompt(asked, this.#limits.vocabSize);
    const { prompt } = readTools(request, validateTools(request), this.#toolDependencies);
    return this.#parts.prompts.encodePrompt(prompt, signal, { mayOverflow: true, share });
  }

  /** A beam search ignores them, but wrong values are refused all the same. */
  async #tokenizeBadWords(
    { badWords, beamSearch }: GenerationRequest,
    { sampling, rules }: ValidRequest,
  ): Promise<TokenRules['badTokenSequences']> {
    if (badWords === undefined) return undefined;
    const words = validateBadWords(badWords);
    if (beamSearch !== undefined) return undefined;
    const sequences = await tokenizeBadWords(this.#parts.prompts, words);
    const bannedAlone = sequences.flatMap(sequence => (sequence.length === 1 ? sequence : []));
    const banned = [...bannedAlone, ...rules.minTokensBannedIds];
    checkSomeTokenLeft(sampling.allowedTokenIds, banned, 'badWords and stop.minTokens');
    return sequences;
  }
}
