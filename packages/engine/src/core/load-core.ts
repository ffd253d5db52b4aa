// Builds the token side of one model: ONNX Runtime binding, runner, step loop. The links call it and nothing
// else of this room.

import { availableParallelism } from 'node:os';
import { EngineError } from '../errors.ts';
import type { CoreOptions } from '../link/messages.ts';
import { EngineCore } from './engine-core.ts';
import { selectBackend } from './model/ort/select-backend.ts';
import { readManifest } from './model/read-manifest.ts';
import { createSlotsRunner } from './model/slots-runner.ts';

/** Throws: `model_invalid` for an unusable folder or options that do not fit it, `engine_failed`. */
export async function loadCore(options: CoreOptions): Promise<EngineCore> {
  checkOptions(options);
  const manifest = await readManifest(options.modelDir);
  const contextLength = options.contextLength ?? manifest.contextLength;
  if (contextLength > manifest.contextLength) {
    throw wrongOption(
      'contextLength',
      `must be at most ${manifest.contextLength}, which the model was built for; got ${contextLength}`,
    );
  }
  const { backend, note } = await selectBackend(options.backend);
  const runner = await createSlotsRunner(backend, options.modelDir, manifest, {
    slotCount: options.maxSequences,
    contextLength,
    threadCount: options.threadCount === 0 ? availableParallelism() : options.threadCount,
    spin: options.spin ?? true,
  });
  return new EngineCore(runner, {
    prefillChunkLength: options.prefillChunkLength,
    maxQueuedSequences: options.maxQueuedSequences,
    ...(note === undefined ? {} : { backendNote: note }),
  });
}

function checkOptions(options: CoreOptions): void {
  const { device, threadCount, maxSequences, prefillChunkLength, maxQueuedSequences, contextLength } =
    options;
  if (device === 'webgpu' || device === 'cuda') {
    throw wrongOption('device', `"${device}" is not supported yet by this version; use "auto" or "cpu"`);
  }
  checkCount('threadCount', threadCount, 0);
  checkCount('maxSequences', maxSequences, 1);
  checkCount('prefillChunkLength', prefillChunkLength, 1);
  checkCount('maxQueuedSequences', maxQueuedSequences, 0);
  if (contextLength !== undefined) checkCount('contextLength', contextLength, 1);
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw wrongOption(name, `must be a whole number of at least ${least}; got ${value}`);
}

function wrongOption(name: string, problem: string): EngineError {
  return new EngineError('model_invalid', `The option ${name} ${problem}.`, { parameter: name });
}
