// The public face of one loaded model. `createEngine` (create-engine.ts) builds it; the api package and
// embedders use nothing else.

import type { EngineError } from './errors.ts';
import type { CoreLinkState } from './link/core-link.ts';
import type { CoreOptions } from './protocol/core-options.ts';
import type { CoreStats } from './protocol/core-stats.ts';
import type { CoreFacts, WarmUpProgress } from './protocol/messages.ts';
import type { ChatMessage, ChatTemplateOptions } from './request/chat-message.ts';
import type { GenerationEvent } from './request/generation-event.ts';
import type { GenerationRequest } from './request/generation-request.ts';
import type { SamplingParams } from './request/sampling-params.ts';
import type { ReasoningFormatName, ReasoningParser } from './text/reasoning/reasoning-format.ts';
import type { ConstraintOptions } from './text-side/constrained-requests.ts';

export interface EngineOptions extends Partial<Omit<CoreOptions, 'modelDir'>> {
  /** Folder with `ortler-model.json` and the tokenizer files, as model-builder writes it. */
  readonly modelDir: string;
  /**
   * Where the model runs. `worker`: a thread of this process (default). `process`: a child process, so that a
   * native crash fails that model's requests only and the model is restarted. `in-process`: this thread; each
   * model call blocks it, for tests and scripts.
   */
  readonly link?: 'worker' | 'process' | 'in-process';
  /**
   * Whether what a request leaves open is as generation_config.json recommends: sampling settings and the most tokens of
   * an answer. False: neutral settings, and all that the context leaves. The end tokens of the file count in either
   * case. Default: true.
   */
  readonly modelDefaults?: boolean;
  /**
   * A model that is stuck in one step for this long, as in a native call that never returns, is ended and loaded again; its
   * open requests fail. It is noticed up to a quarter later. Only with `link: 'process'`: a thread cannot be ended inside a
   * native call. Unit: milliseconds. 0: never. Default: 300,000.
   */
  readonly stepTimeoutMs?: number;
  /**
   * Reasoning format of the model, by name. `auto`: the format whose mark the chat template has. `none`: no format, so
   * events carry all output in `text`. Default: auto.
   */
  readonly reasoningParser?: ReasoningParser;
  /** Limits on the constraints of requests. */
  readonly constraints?: ConstraintOptions;
  /** Told how far a device is with compiling the model, before it is loaded and again after each restart. */
  readonly onWarmUp?: (progress: WarmUpProgress) => void;
  /** A line that the model's process wrote to its output or error stream. Default: this process's error stream. */
  readonly onModelOutput?: (line: string) => void;
  /** Id of each child process that the model runs in; only with `link: 'process'`. */
  readonly onModelProcess?: (pid: number) => void;
}

/** What is known about the loaded model. */
export interface EngineInfo extends CoreFacts {
  readonly modelType: string;
  readonly precision: string;
  /** Element type of the cache of keys and values. */
  readonly kvType: string;
  readonly parameterCount: number;
  /** End-of-sequence ids: the tokenizer's main one first, then those of generation_config.json. */
  readonly eosTokenIds: readonly number[];
  /** The model's own chat template, for conversations without tools; null when it has none. */
  readonly chatTemplate: string | null;
  /** Format by which events tell `reasoning` from `text` after a chat prompt; null when nothing is split. */
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

export interface Engine {
  readonly info: EngineInfo;
  readonly health: EngineHealth;
  /**
   * Generates the answers to one prompt. The first event comes only after the request was validated, rendered,
   * tokenized, admitted and its prompt computed, so errors of the request are thrown before any event.
   * Ending the loop early or firing `signal` aborts the request within one step.
   * Throws: any `EngineErrorCode`.
   */
  generate(request: GenerationRequest, signal?: AbortSignal): AsyncIterable<GenerationEvent>;
  /** Prompt text of a conversation. Throws: `template_failed`. */
  renderChat(messages: readonly ChatMessage[], options?: ChatTemplateOptions): Promise<string>;
  /** Throws: `invalid_request` for text too long to encode in time. */
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): Promise<readonly number[]>;
  decode(tokenIds: readonly number[], options?: { readonly skipSpecialTokens?: boolean }): string;
  /** How the vocabulary writes tokens (`Ġhello`, `▁hello`, `<0xE2>`); empty for ids that it does not have. */
  vocabularyTexts(tokenIds: readonly number[]): readonly string[];
  /** Waits for open requests up to `deadlineMs`, aborts the rest, ends the model's thread or process. */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
  /** As `close` without options, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
