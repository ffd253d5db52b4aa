// One build in a worker thread, so that it never blocks the caller's event loop.

import { Worker } from 'node:worker_threads';
import { entryModule } from '@ortler/worker';
import type { BuildReport, BuildTask } from './build-worker-entry.ts';
import type { EnsureModelOptions } from './ensure-model.ts';
import { ModelBuildError } from './errors.ts';
import { threadFailure } from './thread-failure.ts';

/** Path of the built model. Throws: as `ensureModel`; `build_failed` when the thread ends early. */
export async function buildInWorker(
  task: BuildTask,
  { onProgress, signal }: Pick<EnsureModelOptions, 'onProgress' | 'signal'>,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { url, execArgv } = entryModule('./build-worker-entry', import.meta.url);
  const worker = new Worker(url, { workerData: task, execArgv: [...execArgv] });
  // An aborted build leaves only a temporary folder, which the next build removes.
  const stop = () => reject(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  // It may have fired before this call.
  if (signal?.aborted) stop();
  worker.on('message', (report: BuildReport) => {
    // Under `node --watch` Node tells the imports of a thread by the same channel: messages of no kind.
    if (report.kind === 'progress') onProgress?.(report.progress);
    else if (report.kind === 'built') resolve(report.modelDir);
    else if (report.kind === 'failed')
      reject(new ModelBuildError(report.code, report.message, report.details));
  });
  worker.once('error', cause => reject(threadFailure(cause)));
  worker.once('exit', code =>
    reject(new ModelBuildError('build_failed', `The build ended early with code ${code}.`)),
  );
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    await worker.terminate();
  }
}
