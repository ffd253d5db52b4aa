// One open request on the text side: steps of the token side in, events for the caller out. Unread deltas of a
// choice merge, so a slow reader costs no more memory than the answer itself; one that is far behind is not computed
// for until it has caught up.

import { EngineError } from './errors.ts';
import type { PrefilledRequest, SequenceUpdate } from './link/messages.ts';
import type { OpenRequest } from './open-requests.ts';
import type {
  ChoiceFinishEvent,
  GenerationEvent,
  PromptReadyEvent,
  RequestFinishEvent,
  TokenDeltaEvent,
} from './request/generation-event.ts';
import type { TokenLogprobs } from './request/token-logprobs.ts';
import type { ChoiceAssembler, ChoiceDelta } from './text/choice-assembler.ts';
import { toPromptLogprobs, toTokenLogprob } from './text/logprob-text.ts';
import type { TokenBytes } from './text/token-bytes.ts';

export interface GenerationOptions {
  readonly promptTokenIds: Int32Array;
  /** One per choice, in order. */
  readonly assemblers: readonly ChoiceAssembler[];
  readonly tokenBytes: TokenBytes;
  /** End tokens of the model: an answer that one of them ended is whole. */
  readonly eosTokenIds: readonly number[];
  /** Checks the tokens of a whole answer before its end is reported; null when there is nothing to check. */
  readonly checkAnswer: ((tokenIds: readonly number[]) => Promise<void>) | null;
  /** Tells the token side that a choice ended in a way only the text shows. */
  readonly abortChoice: (choiceIndex: number) => void;
  /** Tells the token side that nobody reads a choice, or that its reader has caught up. */
  readonly setChoicePaused: (choiceIndex: number, state: { readonly isPaused: boolean }) => void;
  /** Unit: milliseconds. Only differences matter. Default: the clock of this process. */
  readonly now?: () => number;
}

/** Unread tokens of a choice beyond which it is paused: a few seconds of a fast answer. */
const UNREAD_TOKEN_LIMIT = 256;

/** Events that no one has read yet. Their log probabilities get text and bytes only when they are read. */
interface UnreadDelta extends Omit<TokenDeltaEvent, 'logprobs'> {
  text: string;
  readonly tokenIds: number[];
  readonly logprobs: TokenLogprobs[] | undefined;
}

interface UnreadPrompt extends Omit<PromptReadyEvent, 'promptLogprobs'> {
  readonly promptLogprobs: readonly (TokenLogprobs | null)[] | undefined;
}

interface UnreadFinish extends Omit<ChoiceFinishEvent, 'logprobs'> {
  readonly logprobs: readonly TokenLogprobs[] | undefined;
}

type UnreadEvent = UnreadPrompt | UnreadDelta | UnreadFinish | RequestFinishEvent;

export class Generation implements OpenRequest {
  readonly #options: GenerationOptions;
  readonly #unread: UnreadEvent[] = [];
  /** The unread delta of each choice, as long as it is unread. */
  readonly #openDeltas = new Map<number, UnreadDelta>();
  readonly #pausedChoices = new Set<number>();
  /** Tokens of each choice, where its answer will be checked. */
  readonly #answers: number[][];
  #failedChoiceCount = 0;
  #cachedTokenCount = 0;
  readonly #now: () => number;
  #startedAtMs = 0;
  #isStarted = false;
  #openChoiceCount: number;
  #error: EngineError | null = null;
  #wake: (() => void) | null = null;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#openChoiceCount = options.assemblers.length;
    this.#answers = options.checkAnswer === null ? [] : options.assemblers.map(() => []);
  }

  /** All choices ended or the request failed: nothing more comes from the token side. */
  get isOver(): boolean {
    return this.#openChoiceCount === 0 || this.#error !== null;
  }

  /** The prompt is computed; comes before the request's first tokens. */
  start({ cachedTokenCount, timing, promptLogprobs }: PrefilledRequest): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#cachedTokenCount = cachedTokenCount;
    this.#startedAtMs = this.#now();
    const promptTokenIds = Array.from(this.#options.promptTokenIds);
    this.#put({ kind: 'prompt-ready', promptTokenIds, cachedTokenCount, timing, promptLogprobs });
  }

  update(update: SequenceUpdate): void {
    const { choiceIndex } = update;
    const assembler = this.#options.assemblers[choiceIndex];
    // What was under way when the text ended a choice no longer counts.
    if (assembler === undefined || assembler.isFinished || this.#error !== null) return;
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
      this.#putDelta({ kind: 'token-delta', choiceIndex, text, tokenIds: [...tokenIds], logprobs });
      return;
    }
    if (delta.endedByText) this.#options.abortChoice(choiceIndex);
    this.#openDeltas.delete(choiceIndex);
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
    if (this.#error !== null) return;
    this.#put(finish);
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
    this.#openDeltas.delete(choiceIndex);
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
    if (this.isOver) return;
    this.#error = error;
    this.#wake?.();
  }

  /** The events, to be read once. Throws: what `fail` was given. */
  async *events(): AsyncGenerator<GenerationEvent, void, undefined> {
    for (;;) {
      const event = this.#unread.shift();
      if (event === undefined) {
        if (this.#error !== null) throw this.#error;
        await new Promise<void>(resolve => {
          this.#wake = resolve;
        });
        this.#wake = null;
        continue;
      }
      if (event.kind === 'token-delta') {
        this.#openDeltas.delete(event.choiceIndex);
        this.#resume(event.choiceIndex);
      }
      yield event.kind === 'prompt-ready' ? await this.#toPromptReady(event) : this.#toEvent(event);
      if (event.kind === 'request-finish') return;
    }
  }

  /** Joins the delta with the unread one of its choice, if there is one. */
  #putDelta(delta: UnreadDelta): void {
    const open = this.#openDeltas.get(delta.choiceIndex);
    if (open === undefined) {
      this.#openDeltas.set(delta.choiceIndex, delta);
      this.#put(delta);
      return;
    }
    open.text += delta.text;
    for (const id of delta.tokenIds) open.tokenIds.push(id);
    for (const logprobs of delta.logprobs ?? []) open.logprobs?.push(logprobs);
    if (open.tokenIds.length >= UNREAD_TOKEN_LIMIT) this.#pause(delta.choiceIndex);
  }

  #pause(choiceIndex: number): void {
    if (this.#pausedChoices.has(choiceIndex)) return;
    this.#pausedChoices.add(choiceIndex);
    this.#options.setChoicePaused(choiceIndex, { isPaused: true });
  }

  #resume(choiceIndex: number): void {
    if (this.#pausedChoices.delete(choiceIndex))
      this.#options.setChoicePaused(choiceIndex, { isPaused: false });
  }

  #putRequestFinish(): void {
    let completionTokenCount = 0;
    for (const assembler of this.#options.assemblers) completionTokenCount += assembler.tokenCount;
    this.#put({
      kind: 'request-finish',
      usage: {
        promptTokenCount: this.#options.promptTokenIds.length,
        completionTokenCount,
        cachedTokenCount: this.#cachedTokenCount,
      },
      decodeMs: this.#now() - this.#startedAtMs,
    });
  }

  #put(event: UnreadEvent): void {
    this.#unread.push(event);
    this.#wake?.();
  }

  async #toPromptReady({ promptLogprobs, ...rest }: UnreadPrompt): Promise<PromptReadyEvent> {
    if (promptLogprobs === undefined) return rest;
    return { ...rest, promptLogprobs: await toPromptLogprobs(this.#options.tokenBytes, promptLogprobs) };
  }

  #toEvent(event: Exclude<UnreadEvent, UnreadPrompt>): GenerationEvent {
    if (event.kind === 'request-finish') return event;
    const { logprobs, ...rest } = event;
    if (logprobs === undefined) return rest;
    const { tokenBytes } = this.#options;
    return { ...rest, logprobs: logprobs.map(found => toTokenLogprob(tokenBytes, found)) };
  }
}
