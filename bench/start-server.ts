// The server as its operators start it, in a process of its own on a free port. For benchmarks of every room.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';

const ROOT = resolve(import.meta.dirname, '..');

/** Every started server accepts it, as a bearer key and as a password. */
export const API_KEY = 'bench-key-0123456789abcdef';

export interface ServerOptions {
  /** Folder of the data, kept. Default: a new one, which goes with the server. */
  readonly dataDir?: string;
  /** Values of flags by their names without dashes. The variables of the environment hold too. */
  readonly flags?: Readonly<Record<string, string | number>>;
  /** For Node itself. */
  readonly nodeArguments?: readonly string[];
  /** The only core that the server and its models run on; needs `taskset`. Default: all. */
  readonly core?: number | undefined;
}

export interface StartedServer {
  readonly url: string;
  readonly pid: number;
  /** Folder of its data. */
  readonly dataDir: string;
  /** Called or not, the server does not outlive this process. */
  stop(): Promise<void>;
}

/** Waits until the server and its model answer. */
export async function startServer({
  dataDir,
  flags = {},
  nodeArguments = [],
  core,
}: ServerOptions = {}): Promise<StartedServer> {
  const folder = dataDir === undefined ? mkdtempSync(join(tmpdir(), 'ortler-bench-')) : resolve(dataDir);
  const options = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
  // `taskset` becomes the program that it starts, so the process id is that of the server.
  const [program, ...pinned] =
    core === undefined ? [process.execPath] : ['taskset', '-c', String(core), process.execPath];
  const server = spawn(
    program!,
    [
      ...pinned,
      '--conditions=@ortler/source',
      ...nodeArguments,
      'apps/server/src/cli.ts',
      'serve',
      '--port',
      '0',
      ...options,
    ],
    {
      cwd: ROOT,
      env: { ...process.env, ORTLER_API_KEY: API_KEY, ORTLER_DATA_DIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const removeFolder = (): void => {
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  };
  const leave = (): void => {
    server.kill();
    removeFolder();
  };
  process.once('exit', leave);
  const stop = async (): Promise<void> => {
    const hasEnded = server.exitCode !== null || server.signalCode !== null;
    const ended = hasEnded ? undefined : once(server, 'exit');
    server.kill();
    await ended;
    removeFolder();
    process.off('exit', leave);
  };
  try {
    const url = await addressOf(server.stdout);
    while (!(await fetch(`${url}/health`)).ok) await new Promise(done => setTimeout(done, 50));
    return { url, pid: server.pid!, dataDir: folder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The address that the server prints once it listens. Its output is read on, so that it never waits for us. */
function addressOf(output: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    output.on('data', data => {
      text += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found !== null) resolve(found[0]);
    });
    output.once('end', () => reject(new Error(`The server ended:\n${text}`)));
  });
}
