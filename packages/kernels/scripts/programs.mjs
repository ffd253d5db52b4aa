// Starting other programs, with their output in the error where one fails.

import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** A failure that its message explains to a developer; it is shown without a stack. */
export class BuildError extends Error {}

/** Gives standard output. Throws: `BuildError` where the program is missing or fails, with the title and all output. */
export function runProgram(title, program, args, options = {}) {
  return new Promise((resolve, reject) => {
    execFile(program, args, { maxBuffer: 64 << 20, ...options }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      if (error.code === 'ENOENT') return reject(new BuildError(`${title}: ${program} is not installed.`));
      reject(new BuildError(`${title} failed: ${program} ${args.join(' ')}\n${stdout}${stderr}`));
    });
  });
}

/** Calls `work` for each item, as many at a time as there are cores. */
export async function forEachAtOnce(items, work) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}
