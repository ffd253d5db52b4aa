// The requests that this side of a link has open: what they are called there, and what ends them. Callers:
// `linked-engine.ts`, and beam search, which opens one for each of its questions.

import type { EngineError } from '../errors.ts';
import type { CoreLink } from '../link/core-link.ts';
import type { PrefilledRequest, SequenceUpdate } from '../protocol/messages.ts';
import { aborted } from './aborted.ts';

/** What the listener of a link tells a request. Implementations: `generation.ts`, `beam/next-token-query.ts`. */
export interface OpenRequest {
  /** Nothing more is expected from the token side. */
  readonly isOver: boolean;
  /** The prompt is computed; comes before the request's first tokens. */
  start(prefilled: PrefilledRequest): void;
  update(update: SequenceUpdate): void;
  /** The request failed; ignored when it is over. */
  fail(error: EngineError): void;
}

export class OpenRequests {
  readonly #link: CoreLink;
  /** By id, as the listener of the link looks them up. */
  readonly #requests: Map<number, OpenRequest>;
  #nextId = 1;

  constructor(link: CoreLink, requests: Map<number, OpenRequest>) {
    this.#link = link;
    this.#requests = requests;
  }

  /** An id that no request of this link has had. */
  newId(): number {
    return this.#nextId++;
  }

  /** Opens a request. The function it gives ends it: what is still open then, nobody wants. */
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
