// Listener of the link: routes each message to its open request, and records restarts and errors. `create-engine.ts` makes it
// before the engine, because the facts of the engine come over the same link.

import type { EngineError } from '../errors.ts';
import type { CoreLinkListener } from '../link/core-link.ts';
import type { EngineOptions } from '../protocol/engine-options.ts';
import type { FromCoreMessage, WarmUpProgress } from '../protocol/messages.ts';
import { notifyHost } from '../protocol/notify-host.ts';
import { toEngineError } from '../protocol/request-failure.ts';
import type { OpenRequest } from './open-requests.ts';

/** Registered before the facts of the model are known. */
export class EngineLinkListener implements CoreLinkListener {
  readonly requests = new Map<number, OpenRequest>();
  lastError: EngineError | null = null;
  readyCount = 0;

  readonly #callbacks: Pick<EngineOptions, 'onWarmUp' | 'onFailed' | 'onCacheEvents'>;

  constructor(callbacks: Pick<EngineOptions, 'onWarmUp' | 'onFailed' | 'onCacheEvents'> = {}) {
    this.#callbacks = callbacks;
  }

  readonly onWarmUp = (progress: WarmUpProgress): void => notifyHost(this.#callbacks.onWarmUp, progress);

  readonly onReady = (): void => {
    this.readyCount++;
  };

  readonly onDown = (error: EngineError): void => {
    if (error.code !== 'engine_closed') {
      this.lastError = error;
      notifyHost(this.#callbacks.onFailed, error);
    }
    const open = [...this.requests.values()];
    this.requests.clear();
    for (const request of open) request.fail(error);
  };

  readonly onMessage = (message: Extract<FromCoreMessage, { kind: 'step' | 'request-failed' }>): void => {
    if (message.kind === 'request-failed') {
      this.requests.get(message.requestId)?.fail(toEngineError(message));
      this.requests.delete(message.requestId);
      return;
    }
    // Before the answers, so that the cache events of an answer precede any follow-up request to it.
    if (message.cacheEvents !== undefined) notifyHost(this.#callbacks.onCacheEvents, message.cacheEvents);
    for (const prefilled of message.prefilled) this.requests.get(prefilled.requestId)?.start(prefilled);
    for (const update of message.updates) {
      const request = this.requests.get(update.requestId);
      if (request === undefined) continue;
      request.update(update);
      if (request.isOver) this.requests.delete(update.requestId);
    }
  };
}
