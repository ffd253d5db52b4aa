// The public interface of one loaded model, built by `createEngine` (create-engine.ts). The api package and embedders use
// nothing else.

import type { EngineError } from './errors.ts';
import type { CoreLinkState, CoreStats } from './protocol/core-stats.ts';
import type { CoreFacts } from './protocol/messages.ts';
import type { ChatMessage, ChatTemplateOptions } from './request/chat-message.ts';
import type { GenerationEvent } from './request/generation-event.ts';
import type { GenerationRequest, Prompt } from './request/generation-request.ts';
import type { ReasoningFormatName } from './request/reasoning-parser.ts';
import type { SamplingParams } from './request/sampling-params.ts';
import type { ToolsRequest } from './request/tools.ts';

/** Facts of the loaded model. */
export interface EngineInfo extends CoreFacts {
  readonly modelType: string;
  readonly precision: string;
  /** Element type of the KV cache. */
  readonly kvType: string;
  readonly parameterCount: number;
  /** End-of-sequence ids: the tokenizer's main one first, then those of generation_config.json. */
  readonly eosTokenIds: readonly number[];
  /** The model's own chat template, for conversations without tools; null when it has none. */
  readonly chatTemplate: string | null;
  /** Which templates of the model cannot be parsed, and why: chats with these fail, all else works. Absent where there are none. */
  readonly templateNote?: string;
  /** Format by which output after a chat prompt is split into `reasoning` and `text`; null when nothing is split. */
  readonly reasoningFormat: ReasoningFormatName | null;
  /** Sampling defaults of generation_config.json; empty where it names none, and without `modelDefaults`. */
  readonly samplingDefaults: Partial<SamplingParams>;
}

export interface EngineHealth {
  readonly state: CoreLinkState;
  readonly restartCount: number;
  readonly lastError: EngineError | null;
  readonly stats: CoreStats;
}

export interface GenerateOptions {
  /** Aborts the request within one step. */
  readonly signal?: AbortSignal | undefined;
}

export interface EncodePromptOptions {
  readonly tools?: ToolsRequest;
  /** Drops the prompt while it waits. */
  readonly signal?: AbortSignal | undefined;
  /** As `GenerationRequest.share`. */
  readonly share?: string | undefined;
  /** Default: no limit. */
  readonly maxTokenCount?: number;
}

export interface Engine {
  readonly info: EngineInfo;
  readonly health: EngineHealth;
  /**
   * Generates the answers to one prompt. The first event comes only after the request was validated, rendered,
   * tokenized, admitted and its prompt computed, so errors of the request are thrown before any event.
   * Ending the loop early or firing `signal` aborts the request within one step.
   * Throws: any `EngineErrorCode`.
   */
  generate(request: GenerationRequest, options?: GenerateOptions): AsyncIterable<GenerationEvent>;
  /** Prompt text of a conversation. Throws: `template_failed`. */
  renderChat(messages: readonly ChatMessage[], options?: ChatTemplateOptions): Promise<string>;
  /**
   * Token ids of a prompt as `generate` computes it, with the same `tools`; it may be longer than the context.
   * Throws: `template_failed`; `invalid_request`, also for more than `maxTokenCount` tokens.
   */
  encodePrompt(prompt: Prompt, options?: EncodePromptOptions): Promise<readonly number[]>;
  /** Throws: `invalid_request` for text too long to encode in time, and for what is not text. */
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): Promise<readonly number[]>;
  /** Throws: `invalid_request` for an id that is not in the vocabulary. */
  decode(tokenIds: readonly number[], options?: { readonly skipSpecialTokens?: boolean }): string;
  /** The tokens in the spelling of the vocabulary (`Ġhello`, `▁hello`, `<0xE2>`); empty for ids that it does not have. */
  vocabularyTexts(tokenIds: readonly number[]): readonly string[];
  /**
   * Waits for open requests up to `deadlineMs`, aborts the rest, ends the model's thread or process. Default: 0; `Infinity` waits for
   * all of them. Unit: milliseconds.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
  /** As `close` without options, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
