// Ends a request whose connection is silent: no headers, or no further bytes of a body.

import { TransportFailure } from './transport-failure.ts';

export class SilenceTimer {
  readonly #controller = new AbortController();
  readonly #limitMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.restart();
  }

  /** Fires with a `TransportFailure`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something has arrived. */
  restart(): void {
    clearTimeout(this.#timer);
    const seconds = Math.round(this.#limitMs / 100) / 10;
    this.#timer = setTimeout(
      () =>
        this.#controller.abort(
          new TransportFailure('connection', `The connection was silent for ${seconds} s.`),
        ),
      this.#limitMs,
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
