// Whether databases answer, for /health: anybody may ask as often as they like, so one look serves everyone for a while.

/** A database that can be asked whether it is there. */
export interface CheckedDatabase {
  readonly name: string;
  /** Throws: when it does not answer. */
  ping(): Promise<void>;
}

export interface DatabaseState {
  readonly name: string;
  readonly state: 'ready' | 'unreachable';
}

export interface DatabaseChecks {
  look(): Promise<readonly DatabaseState[]>;
}

/** How long one look holds. */
const FRESH_MS = 1_000;
/** A database that has not answered by then counts as unreachable. */
const PATIENCE_MS = 1_000;

/** Checks of these databases. */
export function createDatabaseChecks(databases: readonly CheckedDatabase[]): DatabaseChecks {
  let last: { readonly atMs: number; readonly states: Promise<readonly DatabaseState[]> } | undefined;
  return {
    look() {
      const nowMs = performance.now();
      if (last === undefined || nowMs - last.atMs > FRESH_MS)
        last = { atMs: nowMs, states: Promise.all(databases.map(stateOf)) };
      return last.states;
    },
  };
}

async function stateOf({ name, ping }: CheckedDatabase): Promise<DatabaseState> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'unreachable'>(resolve => {
    timer = setTimeout(resolve, PATIENCE_MS, 'unreachable');
  });
  const asked = ping().then(
    () => 'ready' as const,
    () => 'unreachable' as const,
  );
  try {
    return { name, state: await Promise.race([asked, late]) };
  } finally {
    clearTimeout(timer);
  }
}
