// Starts chdb, ClickHouse's engine, behind an HTTP interface in a separate process, for tests and benchmarks. TEST_PYTHON
// names a Python with chdb; `.ci/run` creates one.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A Python with chdb, or undefined when there is none. */
export function findChdb(): string | undefined {
  const python = process.env.TEST_PYTHON;
  return python !== undefined && spawnSync(python, ['-c', 'import chdb']).status === 0 ? python : undefined;
}

export interface RunningChdb {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends the process after its current statement. */
  stop(): Promise<void>;
}

/**
 * Starts the engine on a folder, which keeps its data.
 * Throws: when the process ends before it serves.
 */
export async function startChdb(python: string, folder: string): Promise<RunningChdb> {
  const child = spawn(python, [join(import.meta.dirname, 'chdb_http.py'), folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>(resolve => {
    child.once('exit', resolve);
  });
  const port = await Promise.race([
    new Promise<string>(resolve => {
      createInterface({ input: child.stdout }).once('line', resolve);
    }),
    exited.then(code => {
      throw new Error(`chdb ended with ${code} before it served`);
    }),
  ]);
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
