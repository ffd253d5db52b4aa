// Lines at the end of a screen that are drawn again as they change, such as progress bars. No mode of the terminal is changed and no
// timer runs: a process that a signal ends leaves nothing to restore, and one that stops is not kept alive.

/** Part of a `WriteStream` of Node. */
export interface Screen {
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ScreenLines {
  /** Adds a line, or changes it. It is cut at the width of the screen. */
  set(name: string, line: string): void;
  /** Unknown names are ignored. */
  remove(name: string): void;
  clear(): void;
  /** Lets `write` write whole lines, which come above these lines and stay. */
  above(write: () => void): void;
}

const DEFAULT_COLUMNS = 80;
const CLEAR_BELOW = '\x1b[0J';
const CLEAR_REST = '\x1b[0K';
const toUpperLine = (count: number) => `\x1b[${count}A`;

export function createScreenLines(screen: Screen): ScreenLines {
  const lines = new Map<string, string>();
  // The cursor is at the beginning of the line below them.
  let drawnCount = 0;

  const toFirst = () => (drawnCount === 0 ? '' : `\r${toUpperLine(drawnCount)}`);
  const draw = () => {
    // Terminals without a size say 0.
    const width = (screen.columns || DEFAULT_COLUMNS) - 1;
    const shown = [...lines.values()].map(line => `${line.slice(0, Math.max(1, width))}${CLEAR_REST}\n`);
    screen.write(`${toFirst()}${shown.join('')}${CLEAR_BELOW}`);
    drawnCount = lines.size;
  };

  return {
    set(name, line) {
      if (lines.get(name) === line) return;
      lines.set(name, line);
      draw();
    },
    remove(name) {
      if (lines.delete(name)) draw();
    },
    clear() {
      lines.clear();
      if (drawnCount > 0) draw();
    },
    above(write) {
      if (drawnCount > 0) screen.write(`${toFirst()}${CLEAR_BELOW}`);
      drawnCount = 0;
      write();
      if (lines.size > 0) draw();
    },
  };
}
