// Probes a device in a child process under a time limit, because a driver may crash or hang.

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment, type EntryModule, entryModule } from '@ortler/worker';
import type { Accelerator } from './probe-device.ts';
import type { ProbeReport } from './probe-entry.ts';

export interface ProbeSettings {
  readonly timeLimitMs?: number;
  /** The child's main module; tests bring their own. */
  readonly entry?: EntryModule;
}

/** The first start of a driver fills its shader caches. */
const TIME_LIMIT_MS = 30_000;

/** Never rejects: a failure is a report. */
export function runProbe(device: Accelerator, settings: ProbeSettings = {}): Promise<ProbeReport> {
  const { timeLimitMs = TIME_LIMIT_MS, entry = entryModule('./probe-entry', import.meta.url) } = settings;
  const { promise, resolve } = Promise.withResolvers<ProbeReport>();
  const fail = (reason: string): void => resolve({ kind: 'fails', reason });
  // Drivers print text that does not belong in a log.
  const child = fork(fileURLToPath(entry.url), [device], {
    execArgv: [...entry.execArgv],
    env: childEnvironment(),
    stdio: 'ignore',
  });
  const timer = setTimeout(() => {
    fail(`The device "${device}" did not answer within ${timeLimitMs / 1000} s.`);
    child.kill('SIGKILL');
  }, timeLimitMs);
  child.once('message', message => resolve(message as ProbeReport));
  child.once('error', error => fail(`The device "${device}" could not be tried: ${error.message}`));
  child.once('exit', (code, signal) =>
    fail(`The process that tried the device "${device}" ended with ${signal ?? `code ${code}`}.`),
  );
  return promise.finally(() => clearTimeout(timer));
}
