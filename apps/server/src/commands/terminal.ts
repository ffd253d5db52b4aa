// Output of commands: results to standard output, everything else to standard error.

/** The terminal of a command; tests collect what is written. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard error is a screen that can redraw a line. */
  readonly isScreen: boolean;
}

/**
 * Handles a closed pipe (EPIPE), as in `ortler chat hi | head -c 1`. Without this the next write ends the process with a
 * stack.
 */
export function onClosedPipe(act: () => void): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      act();
    });
}

export const processTerminal: Terminal = {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  isScreen: process.stderr.isTTY === true,
};
