// The link to a token side in a worker thread of this process: the event loop stays free while the model computes.
// A native crash takes the whole process along; process-link.ts is for hosts that must survive one.

import { Worker } from 'node:worker_threads';
import { type EntryModule, entryModule } from '@ortler/worker';
import type { FromCoreMessage } from '../protocol/messages.ts';
import type { CoreOptions } from '../protocol/options.ts';
import type { CoreLink } from './core-link.ts';
import type { RestartPolicy } from './restart-schedule.ts';
import { SupervisedLink } from './supervised-link.ts';

export interface WorkerLinkSettings {
  /** The worker's main module; calls `serveWorker`. Default: the one that loads real models. */
  readonly entry?: EntryModule;
  readonly policy?: RestartPolicy | undefined;
}

export function createWorkerLink(options: CoreOptions, settings: WorkerLinkSettings = {}): CoreLink {
  const entry = settings.entry ?? entryModule('./worker-entry', import.meta.url);
  return new SupervisedLink(
    options,
    events => {
      const worker = new Worker(entry.url, { execArgv: [...entry.execArgv] });
      let reason = 'thread ended';
      const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()));
      worker.on('message', (message: FromCoreMessage) => events.onMessage(message));
      worker.on('error', error => {
        reason = `thread failed: ${error instanceof Error ? error.message : String(error)}`;
      });
      worker.once('exit', () => events.onExit(reason));
      return {
        send: message => worker.postMessage(message),
        end: async graceMs => {
          worker.postMessage({ kind: 'close' });
          const timer = setTimeout(() => void worker.terminate(), graceMs);
          await exited;
          clearTimeout(timer);
        },
      };
    },
    { policy: settings.policy },
  );
}
