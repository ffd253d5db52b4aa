// What the listener of a link tells a request that is open on the text side. Implementations: `generation.ts`,
// `next-token-query.ts`.

import type { EngineError } from './errors.ts';
import type { PrefilledRequest, SequenceUpdate } from './link/messages.ts';

export interface OpenRequest {
  /** Nothing more is expected from the token side. */
  readonly isOver: boolean;
  /** The prompt is computed; comes before the request's first tokens. */
  start(prefilled: PrefilledRequest): void;
  update(update: SequenceUpdate): void;
  /** The request failed; ignored when it is over. */
  fail(error: EngineError): void;
}
