// Builds the token side of one model: ONNX Runtime binding, runner, step loop. The links call it and nothing
// else of this room.

import { availableParallelism } from 'node:os';
import { EngineError } from '../errors.ts';
import type { CoreOptions } from '../link/messages.ts';
import { EngineCore } from './engine-core.ts';
import { selectBackend } from './model/ort/select-backend.ts';
import { readManifest } from './model/read-manifest.ts';
import { createSlotsRunner } from './model/slots-runner.ts';

/** Slots for computed prompts alone: enough for some conversations that come back while others run. */
const DEFAULT_CACHE_SLOTS = 4;
/** About as long as a step of eight decodes on two cores, so that a running answer waits about twice as long. */
const DEFAULT_MIXED_CHUNK_LENGTH = 32;

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
  const threadCount = options.threadCount === 0 ? availableParallelism() : options.threadCount;
  const { backend, note } = await selectBackend(options.backend);
  const prefixCaching = options.prefixCaching ?? true;
  const cacheSlots = prefixCaching ? (options.cacheSlots ?? DEFAULT_CACHE_SLOTS) : 0;
  const runner = await createSlotsRunner(backend, options.modelDir, manifest, {
    slotCount: options.maxSequences + cacheSlots,
    contextLength,
    threadCount,
    spin: options.spin ?? true,
    ...(options.prefillGraph === undefined ? {} : { prefillGraph: options.prefillGraph }),
  });
  return new EngineCore(runner, {
    maxSequences: options.maxSequences,
    prefillChunkLength: options.prefillChunkLength,
    mixedChunkLength: options.mixedChunkLength ?? DEFAULT_MIXED_CHUNK_LENGTH,
    schedulingPolicy: options.schedulingPolicy ?? 'fcfs',
    prefixCaching,
    ...(options.speculation === 'off' ? { drafter: null } : {}),
    maxQueuedSequences: options.maxQueuedSequences,
    ...(note === undefined ? {} : { backendNote: note }),
  });
}

function checkOptions(options: CoreOptions): void {
  const { device, threadCount, maxSequences, prefillChunkLength, maxQueuedSequences, contextLength } =
    options;
  const { mixedChunkLength, cacheSlots } = options;
  if (device === 'webgpu' || device === 'cuda') {
    throw wrongOption('device', `"${device}" is not supported yet by this version; use "auto" or "cpu"`);
  }
  checkCount('threadCount', threadCount, 0);
  checkCount('maxSequences', maxSequences, 1);
  checkCount('prefillChunkLength', prefillChunkLength, 1);
  checkCount('maxQueuedSequences', maxQueuedSequences, 0);
  if (mixedChunkLength !== undefined) checkCount('mixedChunkLength', mixedChunkLength, 1);
  if (cacheSlots !== undefined) checkCount('cacheSlots', cacheSlots, 0);
  if (cacheSlots !== undefined && cacheSlots > 0 && options.prefixCaching === false) {
    throw wrongOption('cacheSlots', `must be 0 without prefixCaching; got ${cacheSlots}`);
  }
  if (contextLength !== undefined) checkCount('contextLength', contextLength, 1);
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw wrongOption(name, `must be a whole number of at least ${least}; got ${value}`);
}

function wrongOption(name: string, problem: string): EngineError {
  return new EngineError('model_invalid', `The option ${name} ${problem}.`, { parameter: name });
}
