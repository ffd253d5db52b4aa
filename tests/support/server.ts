// Starts the real server as its users do: the command line as a child process, on a free port of this machine.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dirname, '../..');

/** Arguments of Node that run the command line from its sources. */
export const ORTLER = ['--conditions=@ortler/source', join(REPOSITORY, 'apps/server/src/cli.ts')] as const;

export interface RunningServer {
  readonly child: ChildProcess;
  readonly folder: string;
  readonly url: string;
  /** The key that this start made; empty when there was one already. */
  readonly apiKey: string;
  /** Everything written so far to both streams. */
  output(): string;
  /** Resolves with exit code or signal. */
  readonly exited: Promise<number | NodeJS.Signals | null>;
  /** Process ids of the model processes that live now. */
  modelPids(): number[];
  /** Stops the server if it still runs, and removes its files. */
  dispose(): Promise<void>;
}

export interface StartOptions {
  readonly arguments?: readonly string[];
  /** Folder of an earlier start, to start again on its data. */
  readonly folder?: string;
  /** Added to the environment of the server. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts `ortler serve`, with the demo model unless the arguments name others, and waits until all are ready. */
export async function startServer(options: StartOptions = {}): Promise<RunningServer> {
  const folder = options.folder ?? (await makeServerFolder());
  const child = spawn(
    process.execPath,
    [...ORTLER, 'serve', '--port', '0', '--data-dir', join(folder, 'data'), ...(options.arguments ?? [])],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...withoutSettings(), ...options.env } },
  );
  let output = '';
  const exited = new Promise<number | NodeJS.Signals | null>(resolve => {
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  const dispose = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await exited;
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  const onText = (text: Buffer) => {
    output += String(text);
    if (output.includes('ready in')) resolve();
  };
  child.stdout.on('data', onText);
  child.stderr.on('data', onText);
  void exited.then(() => reject(new Error(`the server ended early:\n${output}`)));
  try {
    await ready;
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    child,
    folder,
    url: /server +(\S+)/.exec(output)![1]!,
    apiKey: /API key +(\S+)/.exec(output)?.[1] ?? '',
    output: () => output,
    exited,
    modelPids: () => childPids(child.pid!),
    dispose,
  };
}

/** A temporary folder that `dispose` of a server started on it removes. */
export function makeServerFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'ortler-serve-'));
}

/** Whether a process of that id exists and is not a zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function childPids(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ORTLER_')));
}
