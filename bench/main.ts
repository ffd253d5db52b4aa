// Runs one benchmark by name: `npm run bench -- decode-step [options]`. A benchmark is a file
// `bench/<room>/<name>.ts`; its options follow the name and it explains them with --help.

import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const [name, ...options] = process.argv.slice(2);
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter(file => /^[^/\\]+[/\\][^/\\]+\.bench\.ts$/.test(file))
  .sort();
const found = files.find(file => basename(file, '.bench.ts') === name);

if (found === undefined) {
  console.error(name === undefined ? 'Which benchmark?' : `There is no benchmark "${name}".`);
  console.error(`Benchmarks: ${files.map(file => basename(file, '.bench.ts')).join(', ') || 'none'}.`);
  process.exitCode = 2;
} else {
  process.argv.splice(2, process.argv.length, ...options);
  await import(join(import.meta.dirname, found));
}
