// Where commands write: answers to standard output, everything else to standard error.

/** The terminal of a command; tests collect what is written. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard error is a screen that can redraw a line. */
  readonly isScreen: boolean;
}

export const processTerminal: Terminal = {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  isScreen: process.stderr.isTTY === true,
};
