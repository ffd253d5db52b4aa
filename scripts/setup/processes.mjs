// Starting other programs from the set-up script: output goes straight to the terminal, signals reach the
// program, and its exit code comes back.

import { spawn } from 'node:child_process';

/** Root of the repository. */
export const ROOT = new URL('../../', import.meta.url);

/** The shell that npm started this process in; another number when it has ended. */
const PARENT = process.ppid;
const PARENT_CHECK_MS = 250;

/**
 * Runs a program in the repository's root until it ends and gives its exit code.
 *
 * A terminal sends Ctrl-C to the whole group, so SIGINT is only waited out here; SIGTERM and SIGHUP, which
 * process managers send to this process alone, are passed on. npm sends its SIGTERM to the shell between it and this
 * process, and a shell such as dash ends without passing it on: then the end of the shell is the signal.
 */
export function runToEnd(program, args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env: environment, stdio: 'inherit' });
    let isSignalled = false;
    const pass = signal => {
      isSignalled = true;
      child.kill(signal);
    };
    const wait = () => {
      isSignalled = true;
    };
    const checkParent = () => {
      if (process.ppid !== PARENT && !isSignalled) pass('SIGTERM');
    };
    const isFromNpm = process.env.npm_lifecycle_event !== undefined;
    const parentCheck = isFromNpm ? setInterval(checkParent, PARENT_CHECK_MS) : undefined;
    process.on('SIGTERM', pass).on('SIGHUP', pass).on('SIGINT', wait);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      clearInterval(parentCheck);
      process.off('SIGTERM', pass).off('SIGHUP', pass).off('SIGINT', wait);
      resolve(code ?? (signal === 'SIGINT' ? INTERRUPTED_CODE : 1));
    });
  });
}

/** Exit code of a program that Ctrl-C ended. */
export const INTERRUPTED_CODE = 130;

/** A set-up step that Ctrl-C ended. */
export class Interruption extends Error {}

/** Runs a set-up step. Throws: `Interruption` when it was stopped, `Error` when it failed. */
export async function runStep(title, program, args, environment) {
  console.error(`${title} ...`);
  const code = await runToEnd(program, args, environment);
  if (code === INTERRUPTED_CODE)
    throw new Interruption(`"${title}" was stopped; the next start does it again.`);
  if (code !== 0) throw new Error(`"${title}" ended with code ${code}; the lines above tell why.`);
}
