// Health checks of databases, for /health. Results are cached briefly, because the route is open to everyone.

/** A database with a ping. */
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
  check(): Promise<readonly DatabaseState[]>;
}

/** How long a result is cached. */
const FRESH_MS = 1_000;
/** Timeout of a ping. */
const PING_TIMEOUT_MS = 1_000;

/** Creates the checks of these databases. */
export function createDatabaseChecks(databases: readonly CheckedDatabase[]): DatabaseChecks {
  let last: { readonly atMs: number; readonly states: Promise<readonly DatabaseState[]> } | undefined;
  return {
    check() {
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
    timer = setTimeout(resolve, PING_TIMEOUT_MS, 'unreachable');
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
