// The message loop around the token side, the same in a child process, a worker thread and this thread: receive, step, send
// the result of the step. Idle while there is no work.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EngineCore } from '../core/engine-core.ts';
import { EngineError } from '../errors.ts';
import type { FromCoreMessage, SubmitMessage, ToCoreMessage, WarmUpProgress } from '../protocol/messages.ts';
import type { CoreOptions } from '../protocol/options.ts';
import { toRequestFailedMessage } from '../protocol/request-failure.ts';

/** The part of the token side that the loop uses. */
export type LoopCore = Pick<
  EngineCore,
  'facts' | 'hasWork' | 'setVocabulary' | 'submit' | 'abort' | 'setPaused' | 'step' | 'close'
>;

/** Loads the token side; `loadCore` in production, a scripted one in tests. */
export type LoadCore = (
  options: CoreOptions,
  onWarmUp: (progress: WarmUpProgress) => void,
) => Promise<LoopCore>;

export class CoreLoop {
  readonly #load: LoadCore;
  readonly #send: (message: FromCoreMessage) => void;
  #inbox: ToCoreMessage[] = [];
  #wake: (() => void) | null = null;
  #isClosing = false;

  constructor(load: LoadCore, send: (message: FromCoreMessage) => void) {
    this.#load = load;
    this.#send = send;
  }

  /** Takes a message; it has its effect between two steps. */
  receive(message: ToCoreMessage): void {
    this.#inbox.push(message);
    this.#wake?.();
  }

  /** Resolves after `close`, or after a failure that is fatal for the token side; never rejects. */
  async run(): Promise<void> {
    let core: LoopCore | null = null;
    try {
      core = await this.#loadWhenAsked();
      if (core !== null) await this.#stepUntilClosed(core);
    } catch (cause) {
      this.#send(toFatal(cause));
    }
    // An error while freeing the model is ignored, because its thread or process ends next.
    await core?.close().catch(() => undefined);
  }

  async #loadWhenAsked(): Promise<LoopCore | null> {
    while (this.#inbox.length === 0) await this.#sleep();
    const first = this.#inbox.shift()!;
    if (first.kind !== 'load') return null;
    const core = await this.#load(first.options, progress => this.#send({ kind: 'warm-up', ...progress }));
    this.#send({ kind: 'ready', facts: core.facts });
    return core;
  }

  async #stepUntilClosed(core: LoopCore): Promise<void> {
    for (;;) {
      this.#drain(core);
      if (this.#isClosing) return;
      if (!core.hasWork) {
        await this.#sleep();
        continue;
      }
      const step = core.step();
      // Messages arrive only while the event loop turns. It does so while the model computes, unless that blocks it.
      const turn = nextTurn();
      for (const output of await step) {
        this.#send(output);
        if (output.kind === 'fatal') return;
      }
      await turn;
    }
  }

  #drain(core: LoopCore): void {
    const messages = this.#inbox;
    this.#inbox = [];
    for (const message of messages) {
      if (message.kind === 'submit') this.#submit(core, message);
      else if (message.kind === 'vocabulary') core.setVocabulary(message.vocabulary);
      else if (message.kind === 'abort') core.abort(message.requestId, message.choiceIndex);
      else if (message.kind === 'pause' || message.kind === 'resume')
        core.setPaused(message.requestId, message.choiceIndex, { isPaused: message.kind === 'pause' });
      else if (message.kind === 'ping') this.#send({ kind: 'pong', hasWork: core.hasWork });
      else if (message.kind === 'close') this.#isClosing = true;
    }
  }

  #submit(core: LoopCore, message: SubmitMessage): void {
    try {
      core.submit(message);
    } catch (error) {
      // An `EngineError` refuses this request only; any other error means that the token side is broken.
      if (!(error instanceof EngineError)) throw error;
      this.#send(toRequestFailedMessage(message.requestId, error));
    }
  }

  #sleep(): Promise<void> {
    if (this.#inbox.length > 0) return Promise.resolve();
    return new Promise(resolve => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }
}

function toFatal(cause: unknown): FromCoreMessage {
  if (cause instanceof EngineError) return { kind: 'fatal', code: cause.code, message: cause.message };
  const reason = cause instanceof Error ? cause.message : String(cause);
  return { kind: 'fatal', code: 'engine_failed', message: `The model failed: ${reason}` };
}
