// Open requests of a link: their ids, and their abort by signal or by the caller. Callers: `linked-engine.ts`, and beam
// search, which opens one request for each query.

import type { EngineError } from '../errors.ts';
import type { CoreLink } from '../link/core-link.ts';
import type { PrefilledRequest, SequenceUpdate } from '../protocol/messages.ts';
import { aborted } from './aborted.ts';

/**
 * An open request, which receives its messages from the link. Implementations: `generation.ts`,
 * `beam/next-token-query.ts`.
 */
export interface OpenRequest {
  /** No more messages are expected from the token side. */
  readonly isOver: boolean;
  /** The prompt is computed; comes before the request's first tokens. */
  start(prefilled: PrefilledRequest): void;
  update(update: SequenceUpdate): void;
  /** The request failed; ignored when it is over. */
  fail(error: EngineError): void;
}

export class OpenRequests {
  readonly #link: CoreLink;
  /** By id. Shared with the listener of the link. */
  readonly #requests: Map<number, OpenRequest>;
  #nextId = 1;

  constructor(link: CoreLink, requests: Map<number, OpenRequest>) {
    this.#link = link;
    this.#requests = requests;
  }

  /** A new id, unique within the link. */
  newId(): number {
    return this.#nextId++;
  }

  /** Opens a request. The returned function closes it, and aborts it on the token side if it has not ended. */
  enter(requestId: number, request: OpenRequest, signal: AbortSignal | undefined): () => void {
    const onAbort = (): void => {
      this.#link.abort({ kind: 'abort', requestId });
      this.#requests.delete(requestId);
      request.fail(aborted(signal));
    };
    this.#requests.set(requestId, request);
    signal?.addEventListener('abort', onAbort, { once: true });
    return () => {
      signal?.removeEventListener('abort', onAbort);
      if (this.#requests.delete(requestId)) this.#link.abort({ kind: 'abort', requestId });
    };
  }
}
