// Mistakes of the person at the terminal: shown as one message, without a stack.

/** Ends a command with its message and exit code 1. */
export class UserError extends Error {
  override readonly name = 'UserError';
}
