// A mistake of the user of the command line: shown as one message, without a stack.

/** Ends a command with its message and exit code 1. */
export class UserError extends Error {
  override readonly name = 'UserError';
}
