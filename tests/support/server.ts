// Starts the real server as its users do: the command line as a child process, on a free port of this machine.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dirname, '../..');
export const DEMO_MODEL = join(REPOSITORY, 'models/demo');
export const API_KEY = 'test-key-0123456789abcdef';

export interface RunningServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything the server printed so far. */
  readonly output: () => string;
  stop(): Promise<void>;
}

export interface ServerSettings {
  /** `id=path` pairs. Default: the demo model as `ortler-demo`. */
  readonly models?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a server with its own data folder and waits until every model is ready. */
export async function startServer(settings: ServerSettings = {}): Promise<RunningServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ortler-test-'));
  const port = await freePort();
  const child = spawn(
    process.execPath,
    ['--conditions=source', 'apps/server/src/cli.ts', 'serve', '--port', String(port)],
    {
      cwd: REPOSITORY,
      env: {
        ...process.env,
        ORTLER_API_KEY: API_KEY,
        ORTLER_DATA_DIR: dataDir,
        ...(settings.models === undefined ? {} : { ORTLER_MODELS: settings.models }),
        ...settings.environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout.on('data', data => (output += data));
  child.stderr.on('data', data => (output += data));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    rmSync(dataDir, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await waitUntilReady(url, child, () => output);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, process: child, output: () => output, stop };
}

async function waitUntilReady(url: string, child: ChildProcess, output: () => string): Promise<void> {
  for (let attempt = 0; attempt < 1200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}:\n${output()}`);
    const ready = await fetch(`${url}/health`).then(
      response => response.ok,
      () => false,
    );
    if (ready) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(`The server did not become ready:\n${output()}`);
}

/** A port of this machine that nothing uses now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return address.port;
}
