// One open request on the text side: step messages of the token side in, events for the caller out, through `event-queue.ts`.

import { EngineError } from '../errors.ts';
import type { PrefilledRequest, SequenceUpdate } from '../protocol/messages.ts';
import type { ConstraintPosition, GenerationEvent } from '../request/generation-event.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import type { ChoiceAssembler, ChoiceDelta } from '../text/choice-assembler.ts';
import type { AnswerReader } from './answer-reader.ts';
import { EventQueue, type EventQueueOptions } from './event-queue.ts';
import type { OpenRequest } from './open-requests.ts';

export interface GenerationOptions extends EventQueueOptions {
  readonly promptTokenIds: Int32Array;
  /** One per choice, in order. */
  readonly assemblers: readonly ChoiceAssembler[];
  /** One per choice, in order. */
  readonly readers: readonly AnswerReader[];
  /** End tokens of the model: an answer that one of them ended is whole. */
  readonly eosTokenIds: readonly number[];
  /** Checks the tokens of a whole answer before its end is reported; null when there is nothing to check. */
  readonly checkAnswer: ((tokenIds: readonly number[]) => Promise<void>) | null;
  /** The position in the constraint of a choice that the limit of its length ended; null without a constraint. */
  readonly findPosition: ((tokenIds: readonly number[], canEnd: boolean) => ConstraintPosition) | null;
  /** Aborts a choice on the token side, which cannot see that its text ended it. */
  readonly abortChoice: (choiceIndex: number) => void;
  /** Unit: milliseconds. Only differences matter. Default: the clock of this process. */
  readonly now?: () => number;
}

type NewText = Pick<ChoiceDelta, 'text' | 'tokenIds' | 'finish'>;

export class Generation implements OpenRequest {
  readonly #options: GenerationOptions;
  readonly #queue: EventQueue;
  /** Tokens of each choice that has a constraint. */
  readonly #answers: number[][];
  #cachedTokenCount = 0;
  readonly #now: () => number;
  #startedAtMs = 0;
  #isStarted = false;
  #openChoiceCount: number;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.#queue = new EventQueue(options);
    this.#now = options.now ?? (() => performance.now());
    this.#openChoiceCount = options.assemblers.length;
    const isConstrained = options.checkAnswer !== null || options.findPosition !== null;
    this.#answers = isConstrained ? options.assemblers.map(() => []) : [];
  }

  /** All choices ended or the request failed: nothing more comes from the token side. */
  get isOver(): boolean {
    return this.#openChoiceCount === 0 || this.#queue.error !== null;
  }

  /** The prompt is computed; comes before the request's first tokens. */
  start({ cachedTokenCount, timing, promptLogprobs }: PrefilledRequest): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#cachedTokenCount = cachedTokenCount;
    this.#startedAtMs = this.#now();
    const promptTokenIds = Array.from(this.#options.promptTokenIds);
    this.#queue.put({ kind: 'prompt-ready', promptTokenIds, cachedTokenCount, timing, promptLogprobs });
  }

  update(update: SequenceUpdate): void {
    const { choiceIndex } = update;
    const assembler = this.#options.assemblers[choiceIndex];
    // Tokens in flight when the text ended the choice are dropped.
    if (assembler === undefined || assembler.isFinished || this.#queue.error !== null) return;
    const { failure, tokenIds } = update;
    if (failure === undefined || tokenIds.length > 0) this.#addTokens(update, assembler);
    if (failure === undefined || assembler.isFinished) return;
    const rest = assembler.push([], { reason: 'abort', stopTokenId: null });
    this.#failChoice(choiceIndex, new EngineError(failure.code, failure.message), rest);
  }

  #addTokens(update: SequenceUpdate, assembler: ChoiceAssembler): void {
    const { canReason } = this.#options.readers[update.choiceIndex]!;
    for (const part of canReason ? toSingleTokens(update) : [update]) {
      this.#add(part, assembler);
      if (assembler.isFinished) return;
    }
  }

  #add(update: SequenceUpdate, assembler: ChoiceAssembler): void {
    const { choiceIndex } = update;
    const delta = assembler.push(update.tokenIds, update.finish ?? null);
    const { tokenIds } = delta;
    // Tokens after a stop string are dropped.
    const logprobs = update.logprobs?.slice(0, tokenIds.length);
    for (const id of tokenIds) this.#answers[choiceIndex]?.push(id);
    if (delta.finish === null) {
      this.#putDelta(choiceIndex, delta, logprobs);
      return;
    }
    if (delta.endedByText) this.#options.abortChoice(choiceIndex);
    const { checkAnswer, findPosition } = this.#options;
    if (checkAnswer === null || !this.#isWhole(delta.finish)) {
      const finish =
        findPosition === null || delta.finish.reason !== 'length'
          ? delta.finish
          : {
              ...delta.finish,
              constraintPosition: findPosition(this.#answers[choiceIndex]!, update.finish?.canEnd === true),
            };
      this.#finishChoice(choiceIndex, { ...delta, finish }, logprobs);
      return;
    }
    checkAnswer(this.#answers[choiceIndex]!).then(
      () => this.#finishChoice(choiceIndex, delta, logprobs),
      (error: EngineError) => this.#failChoice(choiceIndex, error, delta, logprobs),
    );
  }

  /** Whether the choice ended by itself, so that its answer is complete. */
  #isWhole({ reason, stopReason }: NonNullable<ChoiceDelta['finish']>): boolean {
    if (reason !== 'stop' || typeof stopReason === 'string') return false;
    return stopReason === null || this.#options.eosTokenIds.includes(stopReason);
  }

  #putDelta(choiceIndex: number, { text, tokenIds, finish }: NewText, logprobs?: TokenLogprobs[]): void {
    const reader = this.#options.readers[choiceIndex]!;
    const wasReasoning = reader.isReasoning;
    const { reasoning, answer, toolCalls } = reader.read(text, { isLast: finish !== null });
    const isAnswer = answer !== '' || toolCalls.length > 0;
    // A stop string cuts the answer, calls or not.
    const endsWithCalls =
      finish?.reason === 'stop' && typeof finish.stopReason !== 'string' && reader.hasCalled;
    this.#queue.putDelta({
      kind: 'token-delta',
      choiceIndex,
      text: answer,
      reasoning,
      isReasoning: !isAnswer && (wasReasoning || reader.isReasoning),
      ...(toolCalls.length > 0 && { toolCalls: [...toolCalls] }),
      tokenIds: [...tokenIds],
      logprobs,
      finish: endsWithCalls ? { ...finish, reason: 'tool-calls' } : finish,
    });
  }

  #finishChoice(choiceIndex: number, delta: NewText, logprobs?: TokenLogprobs[]): void {
    if (this.#queue.error !== null) return;
    this.#putDelta(choiceIndex, delta, logprobs);
    this.#openChoiceCount--;
    if (this.#openChoiceCount === 0) this.#putRequestFinish();
  }

  /**
   * Ends one choice with its last text and an error. The request fails with it, unless it is the constraint of the caller that failed.
   */
  #failChoice(choiceIndex: number, error: EngineError, rest: NewText, logprobs?: TokenLogprobs[]): void {
    if (error.code !== 'constraint_failed') {
      this.#abortOpenChoices();
      this.fail(error);
      return;
    }
    const finish = { reason: 'error', stopReason: error.code } as const;
    this.#finishChoice(choiceIndex, { ...rest, finish }, logprobs);
  }

  /** Aborts the request on the token side, because it failed on the text side. */
  #abortOpenChoices(): void {
    for (const [choiceIndex, { isFinished }] of this.#options.assemblers.entries())
      if (!isFinished) this.#options.abortChoice(choiceIndex);
  }

  /** Ends the queue with an error, which follows the queued events. */
  fail(error: EngineError): void {
    if (!this.isOver) this.#queue.fail(error);
  }

  /** Waits for the next event; null after the last one. Throws: the error of `fail`. */
  next(): Promise<GenerationEvent | null> {
    return this.#queue.next();
  }

  #putRequestFinish(): void {
    let completionTokenCount = 0;
    for (const assembler of this.#options.assemblers) completionTokenCount += assembler.tokenCount;
    this.#queue.put({
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

/** Updates of one token each: a step may end the reasoning and go on with the answer, and a delta is of one of them. */
function toSingleTokens(update: SequenceUpdate): readonly SequenceUpdate[] {
  const { tokenIds, logprobs, finish, ...rest } = update;
  if (tokenIds.length < 2) return [update];
  return tokenIds.map((tokenId, index) => ({
    ...rest,
    tokenIds: [tokenId],
    ...(logprobs !== undefined && { logprobs: logprobs.slice(index, index + 1) }),
    ...(finish !== undefined && index === tokenIds.length - 1 && { finish }),
  }));
}
