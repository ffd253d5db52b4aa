// What the engine hears from its link: which open request each message is for, and how the model is.
// `create-engine.ts` makes it before the engine itself, whose facts come over the same link.

import { EngineError } from './errors.ts';
import type { CoreLinkListener } from './link/core-link.ts';
import type { FromCoreMessage } from './link/messages.ts';
import type { OpenRequest } from './open-request.ts';

/** Listens from the start, before the facts that the engine is made of are known. */
export class EngineLinkListener implements CoreLinkListener {
  readonly requests = new Map<number, OpenRequest>();
  lastError: EngineError | null = null;
  readyCount = 0;

  readonly onWarmUp: CoreLinkListener['onWarmUp'];

  constructor(onWarmUp?: CoreLinkListener['onWarmUp']) {
    this.onWarmUp = onWarmUp;
  }

  readonly onReady = (): void => {
    this.readyCount++;
  };

  readonly onDown = (error: EngineError): void => {
    if (error.code !== 'engine_closed') this.lastError = error;
    const open = [...this.requests.values()];
    this.requests.clear();
    for (const request of open) request.fail(error);
  };

  readonly onMessage = (message: Extract<FromCoreMessage, { kind: 'step' | 'request-failed' }>): void => {
    if (message.kind === 'request-failed') {
      const { code, requestId, parameter, retryAfterMs } = message;
      const error = new EngineError(code, message.message, {
        ...(parameter === undefined ? {} : { parameter }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
      this.requests.get(requestId)?.fail(error);
      this.requests.delete(requestId);
      return;
    }
    for (const prefilled of message.prefilled) this.requests.get(prefilled.requestId)?.start(prefilled);
    for (const update of message.updates) {
      const request = this.requests.get(update.requestId);
      if (request === undefined) continue;
      request.update(update);
      if (request.isOver) this.requests.delete(update.requestId);
    }
  };
}
