// Supervises a token side: loads it, serves requests, and restarts it after a crash. The same for all three kinds of
// channel, which differ only in where the model runs.

import { EngineError } from '../errors.ts';
import { type CoreLinkState, type CoreStats, IDLE_STATS } from '../protocol/core-stats.ts';
import type {
  AbortMessage,
  CoreFacts,
  FromCoreMessage,
  PauseMessage,
  SubmitMessage,
  ToCoreMessage,
  VocabularyMessage,
} from '../protocol/messages.ts';
import type { CoreOptions } from '../protocol/options.ts';
import type { CoreChannel, OpenCoreChannel } from './core-channel.ts';
import type { CoreLink, CoreLinkListener } from './core-link.ts';
import { DEFAULT_RESTART_POLICY, type RestartPolicy, RestartSchedule } from './restart-schedule.ts';
import { StepWatchdog } from './step-watchdog.ts';

/** Grace period in which a token side may end by itself. One step of a large prompt may be running. */
const END_GRACE_MS = 5_000;

export interface SupervisedLinkSettings {
  readonly policy?: RestartPolicy | undefined;
  /**
   * A token side that is stuck in a step for this long is ended and started again; only for channels that can end one by
   * force. Unit: milliseconds. 0: however long. Default: 0.
   */
  readonly stepTimeoutMs?: number | undefined;
}

interface Starting {
  readonly resolve: (facts: CoreFacts) => void;
  readonly reject: (error: EngineError) => void;
}

export class SupervisedLink implements CoreLink {
  readonly #options: CoreOptions;
  readonly #open: OpenCoreChannel;
  readonly #restarts: RestartSchedule;
  readonly #watchdog: StepWatchdog | null;
  #listener: CoreLinkListener | null = null;
  #starting: Starting | null = null;
  #channel: CoreChannel | null = null;
  #state: CoreLinkState = 'loading';
  #stats: CoreStats = IDLE_STATS;
  #closing: Promise<void> | null = null;

  constructor(options: CoreOptions, open: OpenCoreChannel, settings: SupervisedLinkSettings = {}) {
    const { policy = DEFAULT_RESTART_POLICY, stepTimeoutMs = 0 } = settings;
    this.#options = options;
    this.#open = open;
    this.#restarts = new RestartSchedule(policy, () => this.#openChannel());
    this.#watchdog =
      stepTimeoutMs === 0
        ? null
        : new StepWatchdog(stepTimeoutMs, {
            ask: () => this.#channel?.send({ kind: 'ping' }),
            onHang: () => this.#endHanging(stepTimeoutMs),
          });
  }

  get state(): CoreLinkState {
    return this.#state;
  }

  get stats(): CoreStats {
    return this.#stats;
  }

  start(listener: CoreLinkListener): Promise<CoreFacts> {
    if (this.#listener !== null) throw new Error('The link was started twice.');
    this.#listener = listener;
    return new Promise((resolve, reject) => {
      this.#starting = { resolve, reject };
      this.#openChannel();
    });
  }

  setVocabulary(message: VocabularyMessage): void {
    this.#send(message);
  }

  submit(message: SubmitMessage): void {
    if (this.#state === 'closed') throw new EngineError('engine_closed', 'The engine was closed.');
    if (this.#state !== 'ready' || this.#channel === null) throw this.#unavailable();
    this.#send(message);
  }

  abort(message: AbortMessage): void {
    this.#send(message);
  }

  setPaused(message: PauseMessage): void {
    this.#send(message);
  }

  /** Messages to a token side that is not ready are dropped. */
  #send(message: ToCoreMessage): void {
    if (this.#state !== 'ready') return;
    this.#channel?.send(message);
    this.#watchdog?.start();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#state = 'closed';
    this.#watchdog?.stop();
    this.#stats = IDLE_STATS;
    const predecessorEnded = this.#restarts.stop();
    const channel = this.#channel;
    this.#channel = null;
    const error = new EngineError('engine_closed', 'The engine was closed.');
    this.#starting?.reject(error);
    this.#starting = null;
    this.#listener?.onDown(error);
    await Promise.all([channel?.end(END_GRACE_MS), predecessorEnded]);
  }

  #openChannel(): void {
    // Events of a channel that was given up must not touch its successor.
    const isCurrent = (): boolean => this.#channel === channel;
    let channel: CoreChannel;
    try {
      channel = this.#open({
        onMessage: message => {
          if (isCurrent()) this.#receive(message);
        },
        onExit: reason => {
          if (!isCurrent()) return;
          this.#channel = null;
          this.#goDown(new EngineError('engine_failed', `The model's ${reason}.`));
        },
      });
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#goDown(new EngineError('engine_failed', `The model could not be started: ${reason}`, { cause }));
      return;
    }
    this.#channel = channel;
    channel.send({ kind: 'load', options: this.#options });
  }

  #receive(message: FromCoreMessage): void {
    switch (message.kind) {
      case 'warm-up':
        this.#listener?.onWarmUp?.({ doneCount: message.doneCount, totalCount: message.totalCount });
        break;
      case 'ready':
        this.#becomeReady(message.facts);
        break;
      case 'step':
        this.#stats = message.stats;
        this.#listener?.onMessage(message);
        break;
      case 'request-failed':
        this.#listener?.onMessage(message);
        break;
      case 'pong':
        this.#watchdog?.answered(message.hasWork);
        break;
      case 'fatal':
        this.#goDown(new EngineError(message.code, message.message));
        break;
    }
  }

  #becomeReady(facts: CoreFacts): void {
    this.#state = 'ready';
    this.#restarts.becomeReady();
    this.#stats = { ...IDLE_STATS, freeSlotCount: facts.maxSequences };
    const starting = this.#starting;
    this.#starting = null;
    this.#listener?.onReady(facts);
    starting?.resolve(facts);
  }

  #endHanging(timeoutMs: number): void {
    const message = `The model's process was ended: a step took longer than ${timeoutMs / 1_000} s.`;
    this.#goDown(new EngineError('engine_failed', message), 0);
  }

  /** The token side exited, reported a fatal error, or hangs. */
  #goDown(error: EngineError, graceMs: number = END_GRACE_MS): void {
    const wasReady = this.#state === 'ready';
    this.#watchdog?.stop();
    this.#endChannel(graceMs);
    this.#stats = IDLE_STATS;
    const starting = this.#starting;
    this.#starting = null;
    // A model that never loaded, or whose folder became unusable, would fail again.
    const isHopeless = starting !== null || error.code === 'model_invalid';
    this.#state = isHopeless ? 'failed' : 'restarting';
    if (!isHopeless) this.#restarts.schedule({ wasReady });
    starting?.reject(error);
    if (starting === null) this.#listener?.onDown(isHopeless ? error : this.#withRetry(error));
  }

  /** The error of open requests, which may be sent again once the token side has started. */
  #withRetry({ code, message, cause }: EngineError): EngineError {
    return new EngineError(code, message, { cause, retryAfterMs: this.#restarts.retryAfterMs });
  }

  /** Ends what still runs, as after a `fatal`. */
  #endChannel(graceMs: number): void {
    const channel = this.#channel;
    this.#channel = null;
    if (channel !== null) this.#restarts.waitFor(channel.end(graceMs));
  }

  #unavailable(): EngineError {
    if (this.#state === 'failed') {
      return new EngineError('model_unavailable', 'The model failed and is not started again.');
    }
    const { retryAfterMs } = this.#restarts;
    return new EngineError('model_unavailable', 'The model is being loaded; try again later.', {
      retryAfterMs,
    });
  }
}
