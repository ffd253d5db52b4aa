// Runs a fuzz target against a server of its own: pnpm fuzz chat-bodies [count] [seed].
// Ends with 1 and the offending input at the first failure; the seed is printed, so a run can be repeated.

import { startTinyServer } from '../support/tiny-server.ts';
import { fuzzChatBodies } from './chat-bodies.ts';

const TARGETS = { 'chat-bodies': fuzzChatBodies };
const DEFAULT_COUNT = 100_000;

const [name = '', countText, seedText] = process.argv.slice(2);
const count = Number(countText ?? DEFAULT_COUNT);
const seed = Number(seedText ?? Date.now() % 2 ** 31);
if (!(name in TARGETS) || !Number.isInteger(count) || !Number.isInteger(seed)) {
  console.error(`Usage: pnpm fuzz <target> [count] [seed]; targets: ${Object.keys(TARGETS).join(', ')}.`);
  process.exit(2);
}

const server = await startTinyServer({ arguments: ['--context-length', '128'] });
try {
  console.log(`${name}: ${count} inputs, seed ${seed}`);
  const failure = await TARGETS[name as keyof typeof TARGETS]({
    url: server.url,
    apiKey: server.apiKey,
    count,
    seed,
    onProgress: (done, statuses) => {
      const seen = [...statuses].map(([status, times]) => `${status}: ${times}`).join(', ');
      process.stdout.write(`\r${done} of ${count} (${seen})  `);
    },
  });
  console.log();
  if (failure !== null) {
    console.error(`${failure.problem}\n${failure.body}`);
    process.exitCode = 1;
  }
} finally {
  await server.dispose();
}
