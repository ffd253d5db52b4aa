// The engine over any link: one prepared text side, one token side somewhere, requests in between.
// `create-engine.ts` builds it; tests build it over scripted token sides.

import type { Engine, EngineHealth, EngineInfo } from './engine.ts';
import { EngineError } from './errors.ts';
import { Generation } from './generation.ts';
import type { CoreLink, CoreLinkListener } from './link/core-link.ts';
import type { FromCoreMessage } from './link/messages.ts';
import type { ChatMessage, ChatTemplateOptions } from './request/chat-message.ts';
import type { GenerationEvent } from './request/generation-event.ts';
import type { GenerationRequest } from './request/generation-request.ts';
import {
  type RequestLimits,
  settleMaxTokens,
  type ValidRequest,
  validateGenerationRequest,
} from './request/validate-generation-request.ts';
import { checkSomeTokenLeft } from './request/validate-token-rules.ts';
import { tokenizeBadWords } from './text/bad-words.ts';
import { ChoiceAssembler } from './text/choice-assembler.ts';
import { Detokenizer, detokenize } from './text/detokenizer.ts';
import type { PromptEncoder } from './text/prompt-encoder.ts';
import type { Tokenizer } from './text/tokenizer.ts';
import { truncatePrompt } from './text/truncate-prompt.ts';
import { toSubmitMessage } from './to-submit-message.ts';

export interface LinkedEngineParts {
  readonly link: CoreLink;
  readonly info: EngineInfo;
  readonly tokenizer: Tokenizer;
  readonly prompts: PromptEncoder;
  /** `max_new_tokens` of generation_config.json. */
  readonly defaultMaxTokens: number | undefined;
}

/** Listens from the start, before the facts that the engine is made of are known. */
export class EngineLinkListener implements CoreLinkListener {
  readonly generations = new Map<number, Generation>();
  lastError: EngineError | null = null;
  readyCount = 0;

  readonly onReady = (): void => {
    this.readyCount++;
  };

  readonly onDown = (error: EngineError): void => {
    if (error.code !== 'engine_closed') this.lastError = error;
    const open = [...this.generations.values()];
    this.generations.clear();
    for (const generation of open) generation.fail(error);
  };

  readonly onMessage = (message: Extract<FromCoreMessage, { kind: 'step' | 'request-failed' }>): void => {
    if (message.kind === 'request-failed') {
      const { code, requestId, parameter, retryAfterMs } = message;
      const error = new EngineError(code, message.message, {
        ...(parameter === undefined ? {} : { parameter }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
      this.generations.get(requestId)?.fail(error);
      this.generations.delete(requestId);
      return;
    }
    for (const prefilled of message.prefilled) this.generations.get(prefilled.requestId)?.start(prefilled);
    for (const update of message.updates) {
      const generation = this.generations.get(update.requestId);
      if (generation === undefined) continue;
      generation.update(update);
      if (generation.isOver) this.generations.delete(update.requestId);
    }
  };
}

export class LinkedEngine implements Engine {
  readonly info: EngineInfo;
  readonly #parts: LinkedEngineParts;
  readonly #listener: EngineLinkListener;
  readonly #limits: RequestLimits;
  readonly #drainWaiters = new Set<() => void>();
  #openCount = 0;
  #nextRequestId = 1;
  #isClosing = false;

  constructor(parts: LinkedEngineParts, listener: EngineLinkListener) {
    const { info, tokenizer } = parts;
    this.info = info;
    this.#parts = parts;
    this.#listener = listener;
    this.#limits = {
      vocabSize: info.vocabSize,
      contextLength: info.contextLength,
      samplingDefaults: info.samplingDefaults,
      eosTokenIds: info.eosTokenIds,
      mainEosTokenId: tokenizer.mainEosTokenId,
    };
  }

  get health(): EngineHealth {
    const { link } = this.#parts;
    return {
      state: link.state,
      restartCount: Math.max(0, this.#listener.readyCount - 1),
      lastError: this.#listener.lastError,
      stats: link.stats,
    };
  }

  async *generate(
    request: GenerationRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    if (this.#isClosing) throw closed();
    this.#openCount++;
    try {
      yield* this.#generate(request, signal);
    } finally {
      this.#openCount--;
      if (this.#openCount === 0) for (const wake of this.#drainWaiters) wake();
    }
  }

  renderChat(messages: readonly ChatMessage[], options?: ChatTemplateOptions): Promise<string> {
    return this.#parts.prompts.renderChat(messages, options);
  }

  async encode(text: string, options?: { readonly addSpecialTokens?: boolean }): Promise<readonly number[]> {
    return Array.from(await this.#parts.prompts.encode(text, options?.addSpecialTokens ?? false));
  }

  decode(tokenIds: readonly number[], options?: { readonly skipSpecialTokens?: boolean }): string {
    return detokenize(this.#parts.tokenizer.tokenBytes, tokenIds, {
      skipSpecialTokens: options?.skipSpecialTokens ?? false,
    });
  }

  vocabularyTexts(tokenIds: readonly number[]): readonly string[] {
    const { tokenizer } = this.#parts;
    return tokenIds.map(id => tokenizer.vocabularyText(id));
  }

  async close(options?: { readonly deadlineMs?: number }): Promise<void> {
    this.#isClosing = true;
    const deadlineMs = options?.deadlineMs ?? 0;
    if (this.#openCount > 0 && deadlineMs > 0) await this.#drained(deadlineMs);
    await Promise.all([this.#parts.link.close(), this.#parts.prompts.close()]);
  }

  async *#generate(
    request: GenerationRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    throwIfAborted(signal);
    // What is wrong is refused before the token side hears of the request.
    const valid = validateGenerationRequest(request, this.#limits);
    const badTokenSequences = this.#tokenizeBadWords(valid);
    const { contextLength } = this.info;
    const keep = request.truncatePromptTokens;
    const encoded = await this.#parts.prompts.encodePrompt(request.prompt, signal, {
      mayOverflow: keep !== undefined,
    });
    const promptTokenIds = truncatePrompt(encoded, { keep, maxTokens: valid.maxTokens, contextLength });
    const maxTokens = settleMaxTokens(
      valid,
      promptTokenIds.length,
      contextLength,
      this.#parts.defaultMaxTokens,
    );
    throwIfAborted(signal);

    const requestId = this.#nextRequestId++;
    const { link } = this.#parts;
    const generation = new Generation({
      promptTokenIds,
      assemblers: this.#assemblers(valid, promptTokenIds, this.#specialIds(request.shownSpecialTokens)),
      tokenBytes: this.#parts.tokenizer.tokenBytes,
      abortChoice: choiceIndex => link.abort({ kind: 'abort', requestId, choiceIndex }),
    });
    const onAbort = (): void => {
      link.abort({ kind: 'abort', requestId });
      this.#listener.generations.delete(requestId);
      generation.fail(aborted(signal));
    };
    this.#listener.generations.set(requestId, generation);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      link.submit(toSubmitMessage(requestId, valid, { promptTokenIds, badTokenSequences, maxTokens }));
      yield* generation.events();
    } finally {
      signal?.removeEventListener('abort', onAbort);
      // The reader left early: nobody wants the rest.
      if (this.#listener.generations.delete(requestId)) link.abort({ kind: 'abort', requestId });
    }
  }

  #tokenizeBadWords({
    badWords,
    sampling,
    minTokensBannedIds,
  }: ValidRequest): readonly (readonly number[])[] {
    const sequences = tokenizeBadWords(this.#parts.tokenizer, badWords);
    const bannedAlone = sequences.flatMap(sequence => (sequence.length === 1 ? sequence : []));
    const banned = [...bannedAlone, ...minTokensBannedIds];
    checkSomeTokenLeft(sampling.allowedTokenIds, banned, 'badWords and stop.minTokens');
    return sequences;
  }

  /** Ids of the texts that are special tokens of this vocabulary. */
  #specialIds(texts: readonly string[] = []): ReadonlySet<number> {
    const { tokenizer } = this.#parts;
    return new Set(texts.map(text => tokenizer.tokenId(text)).filter(id => id !== undefined));
  }

  #assemblers(
    valid: ValidRequest,
    promptTokenIds: Int32Array,
    shownSpecialIds: ReadonlySet<number>,
  ): ChoiceAssembler[] {
    const { tokenBytes } = this.#parts.tokenizer;
    const { skipSpecialTokens } = valid;
    return Array.from(
      { length: valid.choiceCount },
      () =>
        new ChoiceAssembler({
          detokenizer: new Detokenizer(tokenBytes, { skipSpecialTokens, shownSpecialIds, promptTokenIds }),
          stopStrings: valid.stopStrings,
          includeStopInOutput: valid.includeStopInOutput,
          minTokens: valid.minTokens,
        }),
    );
  }

  async #drained(deadlineMs: number): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(() => wake(), deadlineMs);
      const wake = (): void => {
        clearTimeout(timer);
        this.#drainWaiters.delete(wake);
        resolve();
      };
      this.#drainWaiters.add(wake);
    });
  }
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw aborted(signal);
}

function aborted(signal: AbortSignal | undefined): EngineError {
  return new EngineError('aborted', 'The request was aborted.', { cause: signal?.reason });
}

function closed(): EngineError {
  return new EngineError('engine_closed', 'The engine was closed.');
}
