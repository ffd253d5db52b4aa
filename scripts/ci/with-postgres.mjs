// Runs a command beside a PostgreSQL server of its own: `node scripts/ci/with-postgres.mjs npm test`. The command finds it by
// TEST_POSTGRES_URL.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { startPostgresCluster } from './postgres-cluster.mjs';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('Give the command to run.');

let child;
// A signal ends the command; its end then stops the server and removes the folder.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child?.kill(signal));
const cluster = await startPostgresCluster();
try {
  child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, TEST_POSTGRES_URL: cluster.url },
  });
  process.exitCode = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
} finally {
  await cluster.stop();
}
