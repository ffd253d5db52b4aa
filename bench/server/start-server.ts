// The server as its users run it, with the demo model, in a process of its own and a folder that is thrown away.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { serverAddress } from '../server-address.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface StartedServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Waits until the model answers. `apiKey` is accepted as a bearer key. */
export async function startServer(apiKey: string): Promise<StartedServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ortler-bench-'));
  const server = spawn(
    process.execPath,
    ['--conditions=source', 'apps/server/src/cli.ts', 'serve', '--port', '0'],
    {
      cwd: ROOT,
      env: { ...process.env, ORTLER_API_KEY: apiKey, ORTLER_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const stop = async () => {
    if (server.exitCode === null) {
      server.kill('SIGTERM');
      await once(server, 'exit');
    }
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const url = await serverAddress(server.stdout);
    while (!(await fetch(`${url}/health`)).ok) await new Promise(done => setTimeout(done, 50));
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
