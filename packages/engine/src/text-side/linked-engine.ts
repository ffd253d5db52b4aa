// Implements `Engine` over any link: prepares requests, submits them and streams their events. `create-engine.ts` builds it;
// tests build it over scripted token sides.

import type { EncodePromptOptions, Engine, EngineHealth, EngineInfo, GenerateOptions } from '../engine.ts';
import { EngineError } from '../errors.ts';
import type { CoreLink } from '../link/core-link.ts';
import type { ConstraintOptions } from '../protocol/engine-options.ts';
import { LONGEST_TIMEOUT_MS } from '../protocol/options.ts';
import type { ChatMessage, ChatTemplateOptions } from '../request/chat-message.ts';
import { describeValue } from '../request/describe-value.ts';
import type { GenerationEvent } from '../request/generation-event.ts';
import type { GenerationRequest, Prompt } from '../request/generation-request.ts';
import { checkTokenIds, wrongParameter } from '../request/parameter-checks.ts';
import { ChoiceAssembler } from '../text/choice-assembler.ts';
import { Detokenizer, detokenize } from '../text/detokenizer.ts';
import type { Tokenizer } from '../text/tokenizer.ts';
import { checkSignal, throwIfAborted } from './aborted.ts';
import { createAnswerReader } from './answer-reader.ts';
import { searchBeams } from './beam/search-beams.ts';
import { type ConstrainedRequest, ConstrainedRequests } from './constrained-requests.ts';
import type { EngineLinkListener } from './engine-link-listener.ts';
import { Generation } from './generation.ts';
import { OpenRequests } from './open-requests.ts';
import { type PreparedRequest, RequestPreparer, type RequestPreparerParts } from './request-preparer.ts';
import { toSubmitMessage } from './to-submit-message.ts';

export interface LinkedEngineParts extends RequestPreparerParts {
  readonly link: CoreLink;
  readonly constraints?: ConstraintOptions | undefined;
}

export class LinkedEngine implements Engine {
  readonly info: EngineInfo;
  readonly #parts: LinkedEngineParts;
  readonly #listener: EngineLinkListener;
  readonly #preparer: RequestPreparer;
  readonly #requests: OpenRequests;
  readonly #constraints: ConstrainedRequests;
  readonly #drainWaiters = new Set<() => void>();
  #openCount = 0;
  #isClosing = false;

  constructor(parts: LinkedEngineParts, listener: EngineLinkListener) {
    const { info, tokenizer, link } = parts;
    this.info = info;
    this.#parts = parts;
    this.#listener = listener;
    this.#preparer = new RequestPreparer(parts);
    this.#requests = new OpenRequests(link, listener.requests);
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
    { signal }: GenerateOptions = {},
  ): AsyncGenerator<GenerationEvent, void, undefined> {
    if (this.#isClosing) throw closed();
    checkSignal(signal);
    this.#openCount++;
    let leave: (() => void) | undefined;
    try {
      const { link, tokenizer } = this.#parts;
      const prepared = await this.#preparer.prepare(request, signal);
      const { beamSearch } = prepared.valid;
      if (beamSearch !== undefined) {
        yield* searchBeams(prepared, beamSearch, { link, tokenizer, requests: this.#requests }, signal);
        return;
      }
      const constrained = await this.#constraints.prepare(request, prepared, signal);
      throwIfAborted(signal);
      const requestId = this.#requests.newId();
      const generation = this.#openGeneration(requestId, prepared, constrained);
      leave = this.#requests.enter(requestId, generation, signal);
      if (constrained !== null) this.#constraints.announce(this.#listener.readyCount);
      link.submit(toSubmitMessage(requestId, prepared, constrained?.submitted));
      for (;;) {
        const event = await generation.next();
        if (event === null) return;
        yield event;
      }
    } finally {
      leave?.();
      this.#openCount--;
      if (this.#openCount === 0) for (const wake of this.#drainWaiters) wake();
    }
  }

  renderChat(messages: readonly ChatMessage[], options?: ChatTemplateOptions): Promise<string> {
    return this.#preparer.renderChat(messages, options);
  }

  async encodePrompt(prompt: Prompt, options: EncodePromptOptions = {}): Promise<readonly number[]> {
    const ids = await this.#preparer.encodePrompt(prompt, options);
    const { maxTokenCount = ids.length } = options;
    if (ids.length > maxTokenCount)
      throw new EngineError(
        'invalid_request',
        `The prompt has ${ids.length} tokens; an answer has at most ${maxTokenCount}.`,
        { parameter: 'prompt' },
      );
    return Array.from(ids);
  }

  async encode(text: string, options?: { readonly addSpecialTokens?: boolean }): Promise<readonly number[]> {
    if (typeof text !== 'string')
      throw wrongParameter('text', `text must be text; got ${describeValue(text)}.`);
    return Array.from(await this.#parts.prompts.encode(text, options?.addSpecialTokens ?? false));
  }

  decode(tokenIds: readonly number[], options?: { readonly skipSpecialTokens?: boolean }): string {
    checkTokenIds('tokenIds', tokenIds, this.info.vocabSize);
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #openGeneration(
    requestId: number,
    prepared: PreparedRequest,
    constrained: ConstrainedRequest | null,
  ): Generation {
    const { link, tokenizer } = this.#parts;
    const { valid, promptTokenIds, reasoning, tools } = prepared;
    const ofEachChoice = <Part>(create: () => Part) => Array.from({ length: valid.choiceCount }, create);
    return new Generation({
      promptTokenIds,
      assemblers: ofEachChoice(() => createAssembler(tokenizer, prepared)),
      readers: ofEachChoice(() => createAnswerReader(reasoning, tools)),
      tokenBytes: tokenizer.tokenBytes,
      eosTokenIds: this.info.eosTokenIds,
      checkAnswer: constrained?.checkAnswer ?? null,
      findPosition: constrained?.findPosition ?? null,
      abortChoice: choiceIndex => link.abort({ kind: 'abort', requestId, choiceIndex }),
      setChoicePaused: (choiceIndex, { isPaused }) =>
        link.setPaused({ kind: isPaused ? 'pause' : 'resume', requestId, choiceIndex }),
    });
  }

  async #drained(deadlineMs: number): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = setTimeout(() => wake(), Math.min(deadlineMs, LONGEST_TIMEOUT_MS));
      const wake = (): void => {
        clearTimeout(timer);
        this.#drainWaiters.delete(wake);
        resolve();
      };
      this.#drainWaiters.add(wake);
    });
  }
}

function createAssembler(
  { tokenBytes }: Tokenizer,
  { valid, rules, promptTokenIds, reasoning, tools }: PreparedRequest,
): ChoiceAssembler {
  const { skipSpecialTokens, stopStrings, includeStopInOutput } = valid;
  const detokenizer = new Detokenizer(tokenBytes, {
    skipSpecialTokens,
    shownSpecialIds: new Set([...(reasoning?.specialIds ?? []), ...(tools?.specialIds ?? [])]),
    promptTokenIds,
  });
  return new ChoiceAssembler({ detokenizer, stopStrings, includeStopInOutput, minTokens: rules.minTokens });
}

function closed(): EngineError {
  return new EngineError('engine_closed', 'The engine was closed.');
}
