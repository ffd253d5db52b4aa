// The engine over any link: one prepared text side, one token side somewhere, requests in between.
// `create-engine.ts` builds it; tests build it over scripted token sides.

import { setTimeout as delay } from 'node:timers/promises';
import { askAll } from './ask-all.ts';
import { generateBeams } from './beam-generation.ts';
import { ConstrainedRequests, type ConstraintOptions } from './constrained-requests.ts';
import type { Engine, EngineHealth, EngineInfo } from './engine.ts';
import type { EngineLinkListener } from './engine-link-listener.ts';
import { EngineError } from './errors.ts';
import { Generation } from './generation.ts';
import type { CoreLink } from './link/core-link.ts';
import { NextTokenQuery, type NextTokens, toQueryMessage } from './next-token-query.ts';
import type { OpenRequest } from './open-request.ts';
import type { ChatMessage, ChatTemplateOptions } from './request/chat-message.ts';
import { checkSignal } from './request/check-request-shape.ts';
import type { GenerationEvent } from './request/generation-event.ts';
import type { BeamSearch, GenerationRequest } from './request/generation-request.ts';
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
import { type TokenizedRequest, toSubmitMessage } from './to-submit-message.ts';

export interface LinkedEngineParts {
  readonly link: CoreLink;
  readonly info: EngineInfo;
  readonly tokenizer: Tokenizer;
  readonly prompts: PromptEncoder;
  /** `max_new_tokens` of generation_config.json. */
  readonly defaultMaxTokens: number | undefined;
  readonly constraints?: ConstraintOptions | undefined;
}

export class LinkedEngine implements Engine {
  readonly info: EngineInfo;
  readonly #parts: LinkedEngineParts;
  readonly #listener: EngineLinkListener;
  readonly #limits: RequestLimits;
  readonly #constraints: ConstrainedRequests;
  readonly #drainWaiters = new Set<() => void>();
  #openCount = 0;
  #nextRequestId = 1;
  #isClosing = false;

  constructor(parts: LinkedEngineParts, listener: EngineLinkListener) {
    const { info, tokenizer, link } = parts;
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
    const { vocabSize } = info;
    this.#constraints = new ConstrainedRequests({ ...parts.constraints, tokenizer, vocabSize, link });
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
    const { link, prompts } = this.#parts;
    await Promise.all([link.close(), prompts.close(), this.#constraints.close()]);
  }

  async *#generate(
    request: GenerationRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    checkSignal(signal);
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

    const shownSpecialIds = this.#specialIds(request.shownSpecialTokens);
    if (valid.beamSearch !== undefined) {
      const prepared = { promptTokenIds, maxTokens, shownSpecialIds };
      yield* this.#searchBeams(valid, valid.beamSearch, prepared, signal);
      return;
    }
    const constrained = await this.#constraints.prepare(request, promptTokenIds, signal);
    throwIfAborted(signal);
    const requestId = this.#nextRequestId++;
    const { link } = this.#parts;
    const generation = new Generation({
      promptTokenIds,
      assemblers: this.#assemblers(valid, promptTokenIds, shownSpecialIds),
      tokenBytes: this.#parts.tokenizer.tokenBytes,
      eosTokenIds: this.info.eosTokenIds,
      checkAnswer: constrained?.checkAnswer ?? null,
      abortChoice: choiceIndex => link.abort({ kind: 'abort', requestId, choiceIndex }),
      setChoicePaused: (choiceIndex, { isPaused }) =>
        link.setPaused({ kind: isPaused ? 'pause' : 'resume', requestId, choiceIndex }),
    });
    const leave = this.#enter(requestId, generation, signal);
    try {
      if (constrained !== null) this.#constraints.announce(this.#listener.readyCount);
      const constraint = constrained?.submitted;
      const tokenized = { promptTokenIds, badTokenSequences, maxTokens, constraint };
      link.submit(toSubmitMessage(requestId, valid, tokenized));
      yield* generation.events();
    } finally {
      leave();
    }
  }

  async *#searchBeams(
    valid: ValidRequest,
    beamSearch: BeamSearch,
    {
      promptTokenIds,
      maxTokens,
      shownSpecialIds,
    }: Pick<TokenizedRequest, 'promptTokenIds' | 'maxTokens'> & {
      readonly shownSpecialIds: ReadonlySet<number>;
    },
    signal?: AbortSignal,
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    const { tokenBytes, mainEosTokenId } = this.#parts.tokenizer;
    const { skipSpecialTokens, includeStopInOutput, logprobs, eosTokenIds } = valid;
    let isAdmitted = false;
    yield* generateBeams({
      promptTokenIds,
      beamSearch,
      maxTokens,
      mainEosTokenId,
      ignoreEos: eosTokenIds.length === 0,
      includeStopInOutput,
      logprobs,
      tokenBytes,
      decode: tokenIds => detokenize(tokenBytes, tokenIds, { skipSpecialTokens, shownSpecialIds }),
      askNextTokens: async (tokenIdLists, topCount) => {
        const ask = (tokenIds: Int32Array) => this.#askNextTokens(tokenIds, topCount, valid, signal);
        const found = await askAll(tokenIdLists, ask, isAdmitted ? ms => pause(ms, signal) : null);
        isAdmitted = true;
        return found;
      },
    });
  }

  async #askNextTokens(
    tokenIds: Int32Array,
    topCount: number,
    valid: ValidRequest,
    signal?: AbortSignal,
  ): Promise<NextTokens> {
    throwIfAborted(signal);
    const requestId = this.#nextRequestId++;
    const query = new NextTokenQuery();
    const leave = this.#enter(requestId, query, signal);
    try {
      this.#parts.link.submit(toQueryMessage(requestId, tokenIds, topCount, valid));
      return await query.answer;
    } finally {
      leave();
    }
  }

  /** Opens a request on this side. The function it gives ends it: what is still open then, nobody wants. */
  #enter(requestId: number, request: OpenRequest, signal: AbortSignal | undefined): () => void {
    const { link } = this.#parts;
    const { requests } = this.#listener;
    const onAbort = (): void => {
      link.abort({ kind: 'abort', requestId });
      requests.delete(requestId);
      request.fail(aborted(signal));
    };
    requests.set(requestId, request);
    signal?.addEventListener('abort', onAbort, { once: true });
    return () => {
      signal?.removeEventListener('abort', onAbort);
      if (requests.delete(requestId)) link.abort({ kind: 'abort', requestId });
    };
  }

  #tokenizeBadWords({
    badWords,
    beamSearch,
    sampling,
    minTokensBannedIds,
  }: ValidRequest): readonly (readonly number[])[] {
    if (beamSearch !== undefined) return [];
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

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  throwIfAborted(signal);
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
