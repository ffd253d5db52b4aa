// One open request on the text side: steps of the token side in, events for the caller out. `unread-events.ts` holds them until
// they are read.

import { EngineError } from '../errors.ts';
import type { PrefilledRequest, SequenceUpdate } from '../protocol/messages.ts';
import type { GenerationEvent } from '../request/generation-event.ts';
import type { ChoiceAssembler, ChoiceDelta } from '../text/choice-assembler.ts';
import type { OpenRequest } from './open-requests.ts';
import { UnreadEvents, type UnreadEventsOptions, type UnreadFinish } from './unread-events.ts';

export interface GenerationOptions extends UnreadEventsOptions {
  readonly promptTokenIds: Int32Array;
  /** One per choice, in order. */
  readonly assemblers: readonly ChoiceAssembler[];
  /** End tokens of the model: an answer that one of them ended is whole. */
  readonly eosTokenIds: readonly number[];
  /** Checks the tokens of a whole answer before its end is reported; null when there is nothing to check. */
  readonly checkAnswer: ((tokenIds: readonly number[]) => Promise<void>) | null;
  /** Tells the token side that a choice ended in a way only the text shows. */
  readonly abortChoice: (choiceIndex: number) => void;
  /** Unit: milliseconds. Only differences matter. Default: the clock of this process. */
  readonly now?: () => number;
}

export class Generation implements OpenRequest {
  readonly #options: GenerationOptions;
  readonly #unread: UnreadEvents;
  /** Tokens of each choice, where its answer will be checked. */
  readonly #answers: number[][];
  #failedChoiceCount = 0;
  #cachedTokenCount = 0;
  readonly #now: () => number;
  #startedAtMs = 0;
  #isStarted = false;
  #openChoiceCount: number;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.#unread = new UnreadEvents(options);
    this.#now = options.now ?? (() => performance.now());
    this.#openChoiceCount = options.assemblers.length;
    this.#answers = options.checkAnswer === null ? [] : options.assemblers.map(() => []);
  }

  /** All choices ended or the request failed: nothing more comes from the token side. */
  get isOver(): boolean {
    return this.#openChoiceCount === 0 || this.#unread.error !== null;
  }

  /** The prompt is computed; comes before the request's first tokens. */
  start({ cachedTokenCount, timing, promptLogprobs }: PrefilledRequest): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#cachedTokenCount = cachedTokenCount;
    this.#startedAtMs = this.#now();
    const promptTokenIds = Array.from(this.#options.promptTokenIds);
    this.#unread.put({ kind: 'prompt-ready', promptTokenIds, cachedTokenCount, timing, promptLogprobs });
  }

  update(update: SequenceUpdate): void {
    const { choiceIndex } = update;
    const assembler = this.#options.assemblers[choiceIndex];
    // What was under way when the text ended a choice no longer counts.
    if (assembler === undefined || assembler.isFinished || this.#unread.error !== null) return;
    if (update.failure !== undefined) {
      const { code, message } = update.failure;
      this.#failChoice(choiceIndex, new EngineError(code, message));
      return;
    }
    const delta = assembler.push(update.tokenIds, update.finish ?? null);
    const { text, tokenIds } = delta;
    // Tokens after a stop string do not count.
    const logprobs = update.logprobs?.slice(0, tokenIds.length);
    for (const id of tokenIds) this.#answers[choiceIndex]?.push(id);
    if (delta.finish === null) {
      this.#unread.putDelta({ kind: 'token-delta', choiceIndex, text, tokenIds: [...tokenIds], logprobs });
      return;
    }
    if (delta.endedByText) this.#options.abortChoice(choiceIndex);
    const finish: UnreadFinish = {
      kind: 'choice-finish',
      choiceIndex,
      text,
      tokenIds,
      logprobs,
      finishReason: delta.finish.reason,
      stopReason: delta.finish.stopReason,
    };
    const { checkAnswer } = this.#options;
    if (checkAnswer === null || !this.#isWhole(delta.finish)) {
      this.#finishChoice(finish);
      return;
    }
    checkAnswer(this.#answers[choiceIndex]!).then(
      () => this.#finishChoice(finish),
      (error: EngineError) => this.#failChoice(choiceIndex, error),
    );
  }

  /** Whether the choice ended by itself, with all that it had to say. */
  #isWhole({ reason, stopReason }: NonNullable<ChoiceDelta['finish']>): boolean {
    if (reason !== 'stop' || typeof stopReason === 'string') return false;
    return stopReason === null || this.#options.eosTokenIds.includes(stopReason);
  }

  #finishChoice(finish: UnreadFinish): void {
    if (this.#unread.error !== null) return;
    this.#unread.put(finish);
    this.#openChoiceCount--;
    if (this.#openChoiceCount === 0) this.#putRequestFinish();
  }

  /** Ends one choice with an error; the request fails with the error of its last choice when all have failed. */
  #failChoice(choiceIndex: number, error: EngineError): void {
    this.#failedChoiceCount++;
    if (this.#failedChoiceCount === this.#options.assemblers.length || error.code !== 'constraint_failed') {
      this.#abortOpenChoices();
      this.fail(error);
      return;
    }
    this.#finishChoice({
      kind: 'choice-finish',
      choiceIndex,
      text: '',
      tokenIds: [],
      logprobs: undefined,
      finishReason: 'error',
      stopReason: error.code,
    });
  }

  /** The request has failed here, which the token side cannot know. */
  #abortOpenChoices(): void {
    for (const [choiceIndex, { isFinished }] of this.#options.assemblers.entries())
      if (!isFinished) this.#options.abortChoice(choiceIndex);
  }

  /** Ends the events with an error after those that are unread. */
  fail(error: EngineError): void {
    if (!this.isOver) this.#unread.fail(error);
  }

  /** The events, to be read once. Throws: what `fail` was given. */
  events(): AsyncGenerator<GenerationEvent, void, undefined> {
    return this.#unread.read();
  }

  #putRequestFinish(): void {
    let completionTokenCount = 0;
    for (const assembler of this.#options.assemblers) completionTokenCount += assembler.tokenCount;
    this.#unread.put({
      kind: 'request-finish',
      usage: {
        promptTokenCount: this.#options.promptTokenIds.length,
        completionTokenCount,
        cachedTokenCount: this.#cachedTokenCount,
      },
      decodeMs: this.#now() - this.#startedAtMs,
    });
  }
}
