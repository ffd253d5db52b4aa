// Runs a fuzz target: pnpm fuzz chat-bodies [count] [seed], pnpm fuzz endpoints [count] [seed], pnpm fuzz families [count] [seed]
// [family ...].
// Ends with 1 after a failure; the seed is printed, so a run can be repeated.

import { startTinyServer } from '../support/tiny-server.ts';
import { fuzzChatBodies } from './chat-bodies.ts';
import { fuzzEndpoints } from './endpoints.ts';
import { fuzzFamilies, listFamilies } from './families.ts';

interface Target {
  readonly defaultCount: number;
  /** Returns whether nothing failed. */
  run(count: number, seed: number, names: readonly string[]): Promise<boolean>;
}

const TARGETS: Readonly<Record<string, Target>> = {
  'chat-bodies': { defaultCount: 100_000, run: runChatBodies },
  endpoints: { defaultCount: 100_000, run: runEndpoints },
  families: { defaultCount: 25, run: runFamilies },
};

const [name = '', countText, seedText, ...names] = process.argv.slice(2);
const target = Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined;
const count = Number(countText ?? target?.defaultCount);
const seed = Number(seedText ?? Date.now() % 2 ** 31);
if (target === undefined || !Number.isInteger(count) || !Number.isInteger(seed)) {
  console.error(`Usage: pnpm fuzz <target> [count] [seed]; targets: ${Object.keys(TARGETS).join(', ')}.`);
  process.exit(2);
}
console.log(`${name}: ${count} inputs, seed ${seed}`);
if (!(await target.run(count, seed, names))) process.exitCode = 1;

/** Against a server of its own, up to the first failure. */
async function runChatBodies(count: number, seed: number): Promise<boolean> {
  const server = await startTinyServer({ arguments: ['--context-length', '128'] });
  try {
    const failure = await fuzzChatBodies({
      url: server.url,
      apiKey: server.apiKey,
      count,
      seed,
      onProgress: (done, statuses) => showProgress(done, count, statuses),
    });
    console.log();
    if (failure !== null) console.error(`${failure.problem}\n${failure.body}`);
    return failure === null;
  } finally {
    await server.dispose();
  }
}

/** Against a server of its own, up to twenty different failures. */
async function runEndpoints(count: number, seed: number): Promise<boolean> {
  const server = await startTinyServer({ arguments: ['--context-length', '128', '--log-level', 'error'] });
  try {
    const failures = await fuzzEndpoints({
      url: server.url,
      apiKey: server.apiKey,
      count,
      seed,
      onProgress: (done, statuses) => showProgress(done, count, statuses),
      onFailure: ({ problem, request }) => console.error(`\n${problem}\n  ${request}`),
    });
    console.log();
    const errors = server
      .output()
      .split('\n')
      .filter(line => line.includes('"level":50'));
    if (failures.length > 0) console.error(`log of the server:\n${errors.slice(0, 20).join('\n')}`);
    if (server.child.exitCode !== null) console.error(`the server ended:\n${server.output()}`);
    return failures.length === 0 && server.child.exitCode === null;
  } finally {
    await server.dispose();
  }
}

function showProgress(done: number, count: number, statuses: ReadonlyMap<number, number>): void {
  const seen = [...statuses].map(([status, times]) => `${status}: ${times}`).join(', ');
  process.stdout.write(`\r${done} of ${count} (${seen})  `);
}

async function runFamilies(count: number, seed: number, names: readonly string[]): Promise<boolean> {
  const families = names.length > 0 ? names : await listFamilies();
  return (await fuzzFamilies({ count, seed, families, onLine: line => console.log(line) })) === 0;
}
