// The link to a token side in a child process, used by the server: a native crash or an out-of-memory kill fails the open
// requests of this model only, and the model is started again.

import { type ChildProcess, fork } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { childEnvironment, type EntryModule, entryModule } from '@ortler/worker';
import type { FromCoreMessage } from '../protocol/messages.ts';
import { notifyHost } from '../protocol/notify-host.ts';
import type { CoreOptions } from '../protocol/options.ts';
import type { CoreLink } from './core-link.ts';
import { SupervisedLink, type SupervisedLinkSettings } from './supervised-link.ts';

export interface ProcessLinkSettings extends SupervisedLinkSettings {
  /** The child's main module; calls `serveProcess`. Default: the one that loads real models. */
  readonly entry?: EntryModule;
  /** A line that the child wrote to its output or error stream. Default: this process's error stream. */
  readonly onOutput?: ((line: string) => void) | undefined;
  /** Each child's process id, for hosts that show or supervise it. */
  readonly onSpawn?: ((pid: number) => void) | undefined;
}

export function createProcessLink(options: CoreOptions, settings: ProcessLinkSettings = {}): CoreLink {
  const entry = settings.entry ?? entryModule('./process-entry', import.meta.url);
  const onOutput = settings.onOutput ?? (line => process.stderr.write(`${line}\n`));
  return new SupervisedLink(
    options,
    events => {
      const child = fork(fileURLToPath(entry.url), [], {
        execArgv: [...entry.execArgv],
        env: childEnvironment(),
        serialization: 'advanced',
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      const exited = new Promise<void>(resolve => {
        const end = (reason: string): void => {
          resolve();
          events.onExit(reason);
        };
        child.on('error', error => {
          // Where the process runs, only a message was lost; its exit follows.
          if (child.pid === undefined) end(`process could not be started: ${error.message}`);
        });
        child.once('exit', (code, signal) => end(`process ended with ${signal ?? `code ${code}`}`));
      });
      if (child.pid !== undefined) notifyHost(settings.onSpawn, child.pid);
      forwardLines(child, onOutput);
      child.on('message', message => events.onMessage(message as FromCoreMessage));
      const send = (message: unknown): void => {
        // A message that meets a dying child is followed by its exit, which fails the requests.
        if (child.connected) child.send(message as object, () => undefined);
      };
      return {
        send,
        end: async graceMs => {
          send({ kind: 'close' });
          const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
          await exited;
          clearTimeout(timer);
        },
      };
    },
    settings,
  );
}

function forwardLines(child: ChildProcess, onOutput: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    // Undefined, contrary to its type, when the system could not create another process.
    if (stream) createInterface({ input: stream }).on('line', line => notifyHost(onOutput, line));
  }
}
