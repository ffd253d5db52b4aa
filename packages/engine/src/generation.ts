// One open request on the text side: steps of the token side in, events for the caller out. Unread deltas of a
// choice merge, so a slow reader costs no more memory than the answer itself.

import type { EngineError } from './errors.ts';
import type { SequenceUpdate } from './link/messages.ts';
import type { GenerationEvent } from './request/generation-event.ts';
import type { ChoiceAssembler, ChoiceDelta } from './text/choice-assembler.ts';

export interface GenerationOptions {
  readonly promptTokenIds: Int32Array;
  /** One per choice, in order. */
  readonly assemblers: readonly ChoiceAssembler[];
  /** Tells the token side that a choice ended in a way only the text shows. */
  readonly abortChoice: (choiceIndex: number) => void;
}

/** Deltas that no one has read yet. */
interface UnreadDelta {
  readonly kind: 'token-delta';
  readonly choiceIndex: number;
  text: string;
  tokenIds: number[];
}

export class Generation {
  readonly #options: GenerationOptions;
  readonly #unread: (GenerationEvent | UnreadDelta)[] = [];
  /** The unread delta of each choice, as long as it is unread. */
  readonly #openDeltas = new Map<number, UnreadDelta>();
  #cachedTokenCount = 0;
  #isStarted = false;
  #openChoiceCount: number;
  #error: EngineError | null = null;
  #wake: (() => void) | null = null;

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.#openChoiceCount = options.assemblers.length;
  }

  /** All choices ended or the request failed: nothing more comes from the token side. */
  get isOver(): boolean {
    return this.#openChoiceCount === 0 || this.#error !== null;
  }

  /** The prompt is computed; comes before the request's first tokens. */
  start(cachedTokenCount: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#cachedTokenCount = cachedTokenCount;
    const promptTokenIds = Array.from(this.#options.promptTokenIds);
    this.#put({ kind: 'prompt-ready', promptTokenIds, cachedTokenCount });
  }

  update(update: SequenceUpdate): void {
    const { choiceIndex } = update;
    const assembler = this.#options.assemblers[choiceIndex];
    // What was under way when the text ended a choice no longer counts.
    if (assembler === undefined || assembler.isFinished || this.#error !== null) return;
    const delta = assembler.push(update.tokenIds, update.finish ?? null);
    if (delta.finish === null) {
      this.#putDelta(choiceIndex, delta);
      return;
    }
    if (delta.endedByText) this.#options.abortChoice(choiceIndex);
    this.#openDeltas.delete(choiceIndex);
    this.#put({
      kind: 'choice-finish',
      choiceIndex,
      text: delta.text,
      tokenIds: delta.tokenIds,
      finishReason: delta.finish.reason,
      stopReason: delta.finish.stopReason,
    });
    this.#openChoiceCount--;
    if (this.#openChoiceCount === 0) this.#putRequestFinish();
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
      if (event.kind === 'token-delta') this.#openDeltas.delete(event.choiceIndex);
      yield event;
      if (event.kind === 'request-finish') return;
    }
  }

  #putDelta(choiceIndex: number, delta: ChoiceDelta): void {
    const open = this.#openDeltas.get(choiceIndex);
    if (open !== undefined) {
      open.text += delta.text;
      for (const id of delta.tokenIds) open.tokenIds.push(id);
      return;
    }
    const { text } = delta;
    const created: UnreadDelta = { kind: 'token-delta', choiceIndex, text, tokenIds: [...delta.tokenIds] };
    this.#openDeltas.set(choiceIndex, created);
    this.#put(created);
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
    });
  }

  #put(event: GenerationEvent | UnreadDelta): void {
    this.#unread.push(event);
    this.#wake?.();
  }
}
