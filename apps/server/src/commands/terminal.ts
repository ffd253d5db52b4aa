// Output of commands: results to standard output, everything else to standard error.

/** The terminal of a command; tests collect what is written. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard error is a screen that can redraw a line. */
  readonly isScreen: boolean;
}

/**
 * Ends a command whose output nobody reads (EPIPE), as in `ortler chat hi | head -c 1`, or cannot be written, as on a full disk.
 * Without this the next write ends the process with a stack.
 */
export function endWithOutput(): void {
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exit(1);
  };
  process.stdout.on('error', onError);
  // There is no other place to say that this one is lost.
  process.stderr.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : 1));
}

/** For a server, which keeps running when its messages are lost, as on a full disk. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

export const processTerminal: Terminal = {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  isScreen: process.stderr.isTTY === true,
};
