// A PostgreSQL server of its own, in a temporary folder and on a free port of this machine. Linux with PostgreSQL installed; when
// this runs as root the server runs as the user `postgres`, because it refuses to run as root. Callers: `with-postgres.mjs`, which
// runs on Node 20, and tests that restart a server. `postgres-cluster.d.mts` has the types.

import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const INSTALLED = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Throws: when PostgreSQL is not installed, or does not start. */
export async function startPostgresCluster() {
  const binaries = findBinaries();
  const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'ortler-postgres-'));
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const run = (name, args) =>
    spawn(join(binaries, name), args, { cwd: folder, stdio: ['ignore', 'ignore', 'ignore'], ...owner });
  let server;
  const port = await freePort();
  const start = async () => {
    server = run('postgres', ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder]);
    await untilReady(data, server);
  };
  const end = async () => {
    if (server === undefined || server.exitCode !== null) return;
    const exited = new Promise(resolve => server.once('exit', resolve));
    // SIGINT asks for a fast stop: open sessions are cut.
    server.kill('SIGINT');
    await exited;
  };
  const stop = async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const settings = ['-U', 'ortler', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
    await success(run('initdb', ['-D', data, ...settings]));
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `postgres://ortler@127.0.0.1:${port}/postgres`,
    async restart() {
      await end();
      await start();
    },
    stop,
  };
}

/** Folder of `initdb` and `postgres`: Debian keeps each major version apart, outside the PATH. */
function findBinaries() {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).filter(name => /^\d+$/.test(name)) : [];
  const newest = versions.sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined)
    throw new Error(`PostgreSQL is not installed: there is no ${INSTALLED}/<version>.`);
  return join(INSTALLED, newest, 'bin');
}

function idOf(flag) {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}

function success(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', code => {
      if (code === 0) resolve();
      else reject(new Error(`${child.spawnfile} ended with ${code}.`));
    });
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** The last line of the server's own pid file says when it takes connections. */
async function untilReady(data, server) {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  const file = join(data, 'postmaster.pid');
  while (Date.now() < deadlineMs) {
    if (server.exitCode !== null)
      throw new Error(`PostgreSQL ended with ${server.exitCode} while it started.`);
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    // After a restart the file of the last run may still be there.
    if (lines[0]?.trim() === String(server.pid) && lines[7]?.trim() === 'ready') return;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  throw new Error('PostgreSQL did not start in time.');
}
