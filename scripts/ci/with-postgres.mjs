// Runs a command beside a PostgreSQL server of its own, in a temporary folder and on a free port of this machine:
// `node scripts/ci/with-postgres.mjs npm test`. The command finds it by TEST_POSTGRES_URL. Linux with PostgreSQL
// installed; when this runs as root the server runs as the user `postgres`, because it refuses to run as root.

import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const INSTALLED = '/usr/lib/postgresql';
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('Give the command to run.');

const binaries = findBinaries();
const owner = process.getuid() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
const folder = mkdtempSync(join(tmpdir(), 'ortler-postgres-'));
if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
const data = join(folder, 'data');
const run = (name, given, options = {}) =>
  spawn(join(binaries, name), given, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    ...owner,
    ...options,
  });

let server;
let child;
// A signal ends the command; its end then stops the server and removes the folder.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child?.kill(signal));
try {
  await ended(
    run('initdb', ['-D', data, '-U', 'ortler', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync']),
  );
  const port = await freePort();
  server = run('postgres', ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  await untilReady();
  const url = `postgres://ortler@127.0.0.1:${port}/postgres`;
  child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, TEST_POSTGRES_URL: url } });
  process.exitCode = await ended(child, { mayFail: true });
} finally {
  if (server !== undefined && server.exitCode === null) {
    // SIGINT asks for a fast stop: open sessions are cut.
    server.kill('SIGINT');
    await new Promise(resolve => server.once('exit', resolve));
  }
  rmSync(folder, { recursive: true, force: true });
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

function ended(child, { mayFail = false } = {}) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const status = code ?? 128 + constants.signals[signal];
      if (status === 0 || mayFail) resolve(status);
      else reject(new Error(`${child.spawnfile} ended with ${status}.`));
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
async function untilReady() {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadlineMs) {
    if (server.exitCode !== null)
      throw new Error(`PostgreSQL ended with ${server.exitCode} while it started.`);
    const file = join(data, 'postmaster.pid');
    if (existsSync(file) && readFileSync(file, 'utf8').split('\n')[7]?.trim() === 'ready') return;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
  throw new Error('PostgreSQL did not start in time.');
}
