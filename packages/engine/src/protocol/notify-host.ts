// Calls of the callbacks among the options. Callers: the text side and the link to a child process.

/**
 * Calls a callback of the host, if it gave one. An error that the callback throws is one of the host's program: it becomes an uncaught
 * exception after the caller has finished its own work, so that no request loses an event by it.
 */
export function notifyHost<Value>(callback: ((value: Value) => void) | undefined, value: Value): void {
  try {
    callback?.(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
