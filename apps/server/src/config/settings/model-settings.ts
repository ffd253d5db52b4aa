// Settings of the models: which are served, where and in what precision they run, which stay in memory.
// Caller: `../settings.ts`.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { REASONING_PARSERS } from '@ortler/engine';
import { modelList, oneOf, reasoningParsers, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

/** The demo model beside this package's sources: `<repository>/models/demo`. */
export const DEMO_MODEL_DIR = resolve(import.meta.dirname, '../../../../../models/demo');

export const MODEL_SETTINGS = {
  models: setting({
    variable: 'ORTLER_MODELS',
    flag: '--models',
    valueName: 'id=path,...',
    fallback: `ortler-demo=${DEMO_MODEL_DIR}`,
    shownFallback: 'ortler-demo=<repository>/models/demo',
    description: 'Models to serve, each a folder. The first one answers requests that name no model.',
    schema: modelList(),
  }),
  device: setting({
    variable: 'ORTLER_DEVICE',
    flag: '--device',
    valueName: 'name',
    fallback: 'auto',
    description:
      'Where models run: cpu, webgpu, cuda, or auto: a GPU over WebGPU where one works, else the processor.',
    schema: oneOf(['auto', 'cpu', 'webgpu', 'cuda']),
  }),
  precision: setting({
    variable: 'ORTLER_PRECISION',
    flag: '--precision',
    valueName: 'name',
    fallback: 'auto',
    description: 'Weights of models built here: auto, q8 or q4, f32 on the processor or f16 on a GPU.',
    schema: oneOf(['auto', 'f32', 'f16', 'q8', 'q4']),
  }),
  kvCache: setting({
    variable: 'ORTLER_KV_CACHE',
    flag: '--kv-cache',
    valueName: 'name',
    fallback: 'auto',
    description:
      'Keys and values of models built here: auto, f32 on the processor or f16 on a GPU; or on the processor int8: a quarter of the memory and faster answers over long contexts, for a small loss.',
    schema: oneOf(['auto', 'f32', 'f16', 'int8']),
  }),
  threads: setting({
    variable: 'ORTLER_THREADS',
    flag: '--threads',
    valueName: 'number',
    fallback: '0',
    shownFallback: '0, all cores',
    description:
      'Threads of one model call, and of sampling where the vocabulary is large (four at most); 0 takes as many as the machine has cores.',
    schema: wholeNumber(0, Math.max(256, availableParallelism())),
  }),
  contextLength: setting<number | undefined>({
    variable: 'ORTLER_CONTEXT_LENGTH',
    flag: '--context-length',
    valueName: 'tokens',
    fallback: undefined,
    shownFallback: "the model's own",
    description: 'Most tokens of prompt and answer together.',
    schema: wholeNumber(16, 10_000_000),
  }),
  reasoningParsers: setting({
    variable: 'ORTLER_REASONING_PARSER',
    flag: '--reasoning-parser',
    valueName: 'name|id=name,...',
    fallback: 'auto',
    shownFallback: "auto, by the model's chat template",
    description: `How what models think is told from what they answer, for all or for one model each: ${REASONING_PARSERS.join(', ')}.`,
    schema: reasoningParsers(),
  }),
  maxLoadedCheckpoints: setting({
    variable: 'ORTLER_MAX_LOADED_CHECKPOINTS',
    flag: '--max-loaded-checkpoints',
    valueName: 'number',
    fallback: '2',
    description: 'Registered checkpoints in memory at the same time; the least recently used makes room.',
    schema: wholeNumber(1, 1_000),
  }),
  checkpointIdleMs: setting({
    variable: 'ORTLER_CHECKPOINT_IDLE_MS',
    flag: '--checkpoint-idle-ms',
    valueName: 'milliseconds',
    fallback: '600000',
    description: 'After how long without a request a checkpoint leaves memory.',
    schema: wholeNumber(1, 2_147_483_647),
  }),
} as const;
