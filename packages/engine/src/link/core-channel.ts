// The channel to one running token side: messages in both directions. It exists as long as its thread or process; the
// supervised link opens a new one after each crash.

import type { FromCoreMessage, ToCoreMessage } from '../protocol/messages.ts';

export interface CoreChannelEvents {
  readonly onMessage: (message: FromCoreMessage) => void;
  /** The token side is gone. Called once, and nothing after it. */
  readonly onExit: (reason: string) => void;
}

export interface CoreChannel {
  /** Never throws: `onExit` follows a message that cannot be delivered. */
  send(message: ToCoreMessage): void;
  /** Asks the token side to end, and ends it by force when it does not within `graceMs`. */
  end(graceMs: number): Promise<void>;
}

export type OpenCoreChannel = (events: CoreChannelEvents) => CoreChannel;
