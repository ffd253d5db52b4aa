// A contestant seen from the benchmark: a child process that is asked one thing at a time.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { ContestantOptions, FromContestant, Timing, ToContestant, Usage, Work } from './contestant.ts';

export type ContestantName =
  | 'ortler'
  | 'ortler-server'
  | 'node-llama-cpp'
  | 'transformers.js'
  | 'llama-server';

const ENTRIES: Readonly<Record<ContestantName, string>> = {
  ortler: 'ortler-entry.ts',
  'ortler-server': 'ortler-server-entry.ts',
  'node-llama-cpp': 'node-llama-cpp-entry.mjs',
  'transformers.js': 'transformers-js-entry.mjs',
  'llama-server': 'llama-server-entry.mjs',
};

export class ContestantProcess {
  readonly name: ContestantName;
  readonly version: string;
  readonly #child: ChildProcess;

  private constructor(name: ContestantName, version: string, child: ChildProcess) {
    this.name = name;
    this.version = version;
    this.#child = child;
  }

  static async start(name: ContestantName, options: ContestantOptions): Promise<ContestantProcess> {
    const child = fork(join(import.meta.dirname, ENTRIES[name]), {
      execArgv: ['--conditions=@ortler/source'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const reply = await ask(child, name, { kind: 'start', options });
    if (reply.kind !== 'started') throw new Error(`${name} did not start.`);
    return new ContestantProcess(name, reply.version, child);
  }

  async run(work: Work): Promise<Timing> {
    const reply = await ask(this.#child, this.name, { kind: 'work', work });
    if (reply.kind !== 'timing') throw new Error(`${this.name} did not measure.`);
    return reply.timing;
  }

  /** Of each of its processes, always in the same order. */
  async usage(): Promise<readonly Usage[]> {
    const reply = await ask(this.#child, this.name, { kind: 'usage' });
    if (reply.kind !== 'usage') throw new Error(`${this.name} did not say what it used.`);
    return reply.processes;
  }

  close(): void {
    this.#child.disconnect();
  }
}

function ask(child: ChildProcess, name: string, message: ToContestant): Promise<FromContestant> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`${name} ended with ${code}.`));
    child.once('exit', onExit);
    child.once('message', (reply: FromContestant) => {
      child.off('exit', onExit);
      if (reply.kind === 'failed') reject(new Error(`${name} failed: ${reply.message}`));
      else resolve(reply);
    });
    child.send(message);
  });
}
