// The interface to a token side, wherever it runs: child process, worker thread or this thread. One conformance suite
// (`test/core-link-conformance.ts`) tests all three implementations.

import type { EngineError } from '../errors.ts';
import type { CoreLinkState, CoreStats } from '../protocol/core-stats.ts';
import type {
  AbortMessage,
  CoreFacts,
  FromCoreMessage,
  PauseMessage,
  SubmitMessage,
  VocabularyMessage,
  WarmUpProgress,
} from '../protocol/messages.ts';

/** Callbacks of the text side, called in the order in which the token side sent the messages. */
export interface CoreLinkListener {
  readonly onMessage: (message: Extract<FromCoreMessage, { kind: 'step' | 'request-failed' }>) => void;
  /** The token side is gone: every open request has failed with this error. */
  readonly onDown: (error: EngineError) => void;
  /** Progress of the warm-up on a device; called several times before `onReady`. */
  readonly onWarmUp?: ((progress: WarmUpProgress) => void) | undefined;
  /** The token side is loaded: at start, and again after each restart. */
  readonly onReady: (facts: CoreFacts) => void;
}

export interface CoreLink {
  readonly state: CoreLinkState;
  readonly stats: CoreStats;
  /** Resolves with the facts of the loaded model. Throws: `model_invalid`, `engine_failed`. */
  start(listener: CoreLinkListener): Promise<CoreFacts>;
  /** For requests with constraints. A token side that is started again has forgotten it. Never throws. */
  setVocabulary(message: VocabularyMessage): void;
  /** Throws: `model_unavailable` while the token side is not ready, `engine_closed` after `close`. */
  submit(message: SubmitMessage): void;
  /** Never throws: aborting what is already gone is fine. */
  abort(message: AbortMessage): void;
  /** Never throws: pausing what is already gone is fine. */
  setPaused(message: PauseMessage): void;
  /** Ends the token side; open requests end through `onDown` with `engine_closed`. */
  close(): Promise<void>;
}
