// The event queue of a request, with backpressure. Queued deltas of a choice merge, so a slow reader costs no more memory
// than the answer; a choice too far ahead of its reader is paused.

import type { EngineError } from '../errors.ts';
import type {
  GenerationEvent,
  PromptReadyEvent,
  RequestFinishEvent,
  TokenDeltaEvent,
  ToolCallDelta,
} from '../request/generation-event.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import { toPromptLogprobs, toTokenLogprob } from '../text/logprob-text.ts';
import type { TokenBytes } from '../text/token-bytes.ts';

export interface EventQueueOptions {
  readonly tokenBytes: TokenBytes;
  /** Pauses a choice on the token side while its reader is slow, and resumes it. */
  readonly setChoicePaused: (choiceIndex: number, state: { readonly isPaused: boolean }) => void;
}

/** Queued tokens of a choice from which on it is paused: a few seconds of a fast answer. */
const PAUSE_TOKEN_COUNT = 256;

/** A queued delta. Its log probabilities get text and bytes when it is read. */
export interface QueuedDelta extends Omit<TokenDeltaEvent, 'logprobs' | 'toolCalls'> {
  text: string;
  reasoning: string;
  toolCalls?: ToolCallDelta[];
  readonly tokenIds: number[];
  readonly logprobs: TokenLogprobs[] | undefined;
}

export interface QueuedPrompt extends Omit<PromptReadyEvent, 'promptLogprobs'> {
  readonly promptLogprobs: readonly (TokenLogprobs | null)[] | undefined;
}

type QueuedEvent = QueuedPrompt | QueuedDelta | RequestFinishEvent;

export class EventQueue {
  readonly #options: EventQueueOptions;
  readonly #events: QueuedEvent[] = [];
  /** The queued delta of each choice that its next one merges with. */
  readonly #openDeltas = new Map<number, QueuedDelta>();
  readonly #pausedChoices = new Set<number>();
  #error: EngineError | null = null;
  #wake: (() => void) | null = null;
  #isAtEnd = false;

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  /** The error after the queued events, in place of a `request-finish`. */
  get error(): EngineError | null {
    return this.#error;
  }

  put(event: QueuedPrompt | RequestFinishEvent): void {
    this.#add(event);
  }

  /**
   * Merges the delta with the queued one of its choice, if there is one; the last delta of a choice stays apart, and
   * reasoning stays apart from the answer, so that each token belongs to one of them.
   * Mutates: keeps `delta`, and adds to it later.
   */
  putDelta(delta: QueuedDelta): void {
    const { choiceIndex } = delta;
    const open = this.#openDeltas.get(choiceIndex);
    if (delta.finish !== null) {
      this.#openDeltas.delete(choiceIndex);
      this.#add(delta);
      return;
    }
    if (open === undefined || open.isReasoning !== delta.isReasoning) {
      this.#openDeltas.set(choiceIndex, delta);
      this.#add(delta);
      return;
    }
    open.text += delta.text;
    open.reasoning += delta.reasoning;
    addToolCalls(open, delta.toolCalls ?? []);
    for (const id of delta.tokenIds) open.tokenIds.push(id);
    for (const logprobs of delta.logprobs ?? []) open.logprobs?.push(logprobs);
    if (open.tokenIds.length >= PAUSE_TOKEN_COUNT) this.#pause(choiceIndex);
  }

  /** Ends the queue with an error, which follows the queued events. */
  fail(error: EngineError): void {
    this.#error = error;
    this.#wake?.();
  }

  /** Waits for the next event; null after `request-finish`. One call at a time. Throws: the error of `fail`. */
  async next(): Promise<GenerationEvent | null> {
    if (this.#isAtEnd) return null;
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) return this.#toEvent(event);
      if (this.#error !== null) throw this.#error;
      await new Promise<void>(resolve => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }

  #add(event: QueuedEvent): void {
    this.#events.push(event);
    this.#wake?.();
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

  async #toEvent(event: QueuedEvent): Promise<GenerationEvent> {
    const { tokenBytes } = this.#options;
    switch (event.kind) {
      case 'prompt-ready': {
        const { promptLogprobs, ...rest } = event;
        if (promptLogprobs === undefined) return rest;
        return { ...rest, promptLogprobs: await toPromptLogprobs(tokenBytes, promptLogprobs) };
      }
      case 'token-delta': {
        if (this.#openDeltas.get(event.choiceIndex) === event) this.#openDeltas.delete(event.choiceIndex);
        this.#resume(event.choiceIndex);
        const { logprobs, ...rest } = event;
        if (logprobs === undefined) return rest;
        return { ...rest, logprobs: logprobs.map(found => toTokenLogprob(tokenBytes, found)) };
      }
      case 'request-finish':
        this.#isAtEnd = true;
        return event;
    }
  }
}

/** Text of the call that is open goes on in its last delta. Mutates: `open`. */
function addToolCalls(open: QueuedDelta, deltas: readonly ToolCallDelta[]): void {
  for (const delta of deltas) {
    open.toolCalls ??= [];
    const last = open.toolCalls.at(-1);
    if (last?.index === delta.index)
      open.toolCalls[open.toolCalls.length - 1] = { ...last, arguments: last.arguments + delta.arguments };
    else open.toolCalls.push(delta);
  }
}
