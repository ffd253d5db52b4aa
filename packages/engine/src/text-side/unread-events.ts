// The events of a request that no one has read yet. Unread deltas of a choice merge, so a slow reader costs no more memory
// than the answer itself; one that is far behind is not computed for until it has caught up.

import type { EngineError } from '../errors.ts';
import type {
  ChoiceFinishEvent,
  GenerationEvent,
  PromptReadyEvent,
  RequestFinishEvent,
  TokenDeltaEvent,
} from '../request/generation-event.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';
import { toPromptLogprobs, toTokenLogprob } from '../text/logprob-text.ts';
import type { TokenBytes } from '../text/token-bytes.ts';

export interface UnreadEventsOptions {
  readonly tokenBytes: TokenBytes;
  /** Tells the token side that nobody reads a choice, or that its reader has caught up. */
  readonly setChoicePaused: (choiceIndex: number, state: { readonly isPaused: boolean }) => void;
}

/** Unread tokens of a choice beyond which it is paused: a few seconds of a fast answer. */
const UNREAD_TOKEN_LIMIT = 256;

/** Log probabilities get text and bytes only when they are read. */
export interface UnreadDelta extends Omit<TokenDeltaEvent, 'logprobs'> {
  text: string;
  readonly tokenIds: number[];
  readonly logprobs: TokenLogprobs[] | undefined;
}

export interface UnreadPrompt extends Omit<PromptReadyEvent, 'promptLogprobs'> {
  readonly promptLogprobs: readonly (TokenLogprobs | null)[] | undefined;
}

export interface UnreadFinish extends Omit<ChoiceFinishEvent, 'logprobs'> {
  readonly logprobs: readonly TokenLogprobs[] | undefined;
}

type UnreadEvent = UnreadPrompt | UnreadDelta | UnreadFinish | RequestFinishEvent;

export class UnreadEvents {
  readonly #options: UnreadEventsOptions;
  readonly #events: UnreadEvent[] = [];
  /** The unread delta of each choice, as long as it is unread. */
  readonly #openDeltas = new Map<number, UnreadDelta>();
  readonly #pausedChoices = new Set<number>();
  #error: EngineError | null = null;
  #wake: (() => void) | null = null;

  constructor(options: UnreadEventsOptions) {
    this.#options = options;
  }

  /** What the events end with, instead of a finish. */
  get error(): EngineError | null {
    return this.#error;
  }

  put(event: UnreadPrompt | UnreadFinish | RequestFinishEvent): void {
    // What follows the end of a choice must not merge with what came before it.
    if (event.kind === 'choice-finish') this.#openDeltas.delete(event.choiceIndex);
    this.#add(event);
  }

  /** Joins the delta with the unread one of its choice, if there is one. Mutates: keeps `delta`, and adds to it later. */
  putDelta(delta: UnreadDelta): void {
    const open = this.#openDeltas.get(delta.choiceIndex);
    if (open === undefined) {
      this.#openDeltas.set(delta.choiceIndex, delta);
      this.#add(delta);
      return;
    }
    open.text += delta.text;
    for (const id of delta.tokenIds) open.tokenIds.push(id);
    for (const logprobs of delta.logprobs ?? []) open.logprobs?.push(logprobs);
    if (open.tokenIds.length >= UNREAD_TOKEN_LIMIT) this.#pause(delta.choiceIndex);
  }

  /** Ends the events with an error after those that are unread. */
  fail(error: EngineError): void {
    this.#error = error;
    this.#wake?.();
  }

  /** The events, to be read once. Throws: what `fail` was given. */
  async *read(): AsyncGenerator<GenerationEvent, void, undefined> {
    for (;;) {
      const event = this.#events.shift();
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

  #add(event: UnreadEvent): void {
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
