// Settings of models: which are served, device, weight precision, KV cache type, threads, reasoning parser, checkpoints.
// Caller: `../settings.ts`.

import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REASONING_PARSERS } from '@ortler/engine';
import { PRECISIONS } from '@ortler/engine/graph-contract';
import { modelList } from '../model-list.ts';
import {
  byteSize,
  type ChatTemplateFiles,
  chatTemplateFiles,
  MEBIBYTE,
  namesByModel,
  oneOf,
  wholeNumber,
} from '../setting-values.ts';
import { setting } from './setting.ts';

/** The folder of the package @ortler/demo-model. */
export const DEMO_MODEL_DIR = dirname(fileURLToPath(import.meta.resolve('@ortler/demo-model/package.json')));

export const MODEL_SETTINGS = {
  models: setting({
    variable: 'ORTLER_MODELS',
    flag: '--models',
    valueName: 'model,...',
    fallback: `ortler-demo=${DEMO_MODEL_DIR}`,
    shownFallback: 'ortler-demo, a small model that comes with Ortler',
    description:
      'Models to serve, each an id and a folder or a GGUF file (`id=path`), an id and a name (`id=org/model@revision`), or a name, which is its id too. Names are fetched from the Hub. `id=https://host/v1#name,https://host2/v1#name` is a model that OpenAI-compatible servers answer for (docs/fleet.md). The first one answers requests that name no model.',
    schema: modelList(),
  }),
  device: setting({
    variable: 'ORTLER_DEVICE',
    flag: '--device',
    valueName: 'name',
    fallback: 'auto',
    description:
      'Device that runs the models: cpu, webgpu, cuda, or auto: a GPU over WebGPU if one works, else the CPU.',
    schema: oneOf(['auto', 'cpu', 'webgpu', 'cuda']),
  }),
  precision: setting({
    variable: 'ORTLER_PRECISION',
    flag: '--precision',
    valueName: 'name',
    fallback: 'auto',
    description:
      'Weight precision of models built here: f32 (CPU) or f16 (GPU); quantised q8 (8-bit weights) or q4 (4-bit weights; W4A16 on a GPU), in blocks with a scale each; file (CPU): each matrix as the file has it, the default of quantised GGUF files; auto chooses by size.',
    schema: oneOf(['auto', ...PRECISIONS]),
  }),
  kvCache: setting({
    variable: 'ORTLER_KV_CACHE',
    flag: '--kv-cache',
    valueName: 'name',
    fallback: 'auto',
    description:
      'KV cache type of models built here: auto (f32 for f32 models, else f16), f32, f16 or int8. On the CPU f16 and int8 take a half and a quarter of the memory and decode faster at long contexts; a CPU without kernels has f32 only. A GPU has f16; over WebGPU, models without sliding windows that run one sequence per call can have int8 (half the memory).',
    schema: oneOf(['auto', 'f32', 'f16', 'int8']),
  }),
  threads: setting({
    variable: 'ORTLER_THREADS',
    flag: '--threads',
    valueName: 'number',
    fallback: '0',
    shownFallback: '0, all cores',
    description:
      'Threads of one model call, and of sampling from a large vocabulary (at most four); 0 takes one per core.',
    schema: wholeNumber(0, Math.max(256, availableParallelism())),
  }),
  contextLength: setting<number | undefined>({
    variable: 'ORTLER_CONTEXT_LENGTH',
    flag: '--context-length',
    valueName: 'tokens',
    fallback: undefined,
    shownFallback: "the model's own",
    description: 'Context length: maximum number of tokens of prompt and answer together.',
    schema: wholeNumber(16, 10_000_000),
  }),
  reasoningParsers: setting({
    variable: 'ORTLER_REASONING_PARSER',
    flag: '--reasoning-parser',
    valueName: 'name|id=name,...',
    fallback: 'auto',
    shownFallback: "auto, by the model's chat template",
    description: `Parser that separates reasoning (thinking) from the answer, for all models or per model: ${REASONING_PARSERS.join(', ')}.`,
    schema: namesByModel(REASONING_PARSERS, 'auto'),
  }),
  chatTemplates: setting<ChatTemplateFiles>({
    variable: 'ORTLER_CHAT_TEMPLATE',
    flag: '--chat-template',
    valueName: 'file|id=file,...',
    fallback: '',
    shownFallback: "the model's own",
    description:
      'Jinja file with the chat template of all models or of one model, in place of its own, read once at start. A model without a template serves chat requests only with one.',
    schema: chatTemplateFiles(),
  }),
  maxLoadedCheckpoints: setting({
    variable: 'ORTLER_MAX_LOADED_CHECKPOINTS',
    flag: '--max-loaded-checkpoints',
    valueName: 'number',
    fallback: '2',
    description:
      'Maximum number of registered checkpoints in memory; the least recently used one is unloaded first.',
    schema: wholeNumber(1, 1_000),
  }),
  checkpointIdleMs: setting({
    variable: 'ORTLER_CHECKPOINT_IDLE_MS',
    flag: '--checkpoint-idle-ms',
    valueName: 'milliseconds',
    fallback: '600000',
    description: 'Time without requests after which a checkpoint is unloaded.',
    schema: wholeNumber(1, 2_147_483_647),
  }),
  buildMaxAgeDays: setting({
    variable: 'ORTLER_BUILD_MAX_AGE_DAYS',
    flag: '--build-max-age-days',
    valueName: 'days',
    fallback: '30',
    description:
      'Built models of the data folder that were not loaded for this long are removed, and built again when needed. 0: never.',
    schema: wholeNumber(0, 36_500),
  }),
  buildMaxBytes: setting({
    variable: 'ORTLER_BUILD_MAX_SIZE',
    flag: '--build-max-size',
    valueName: 'size',
    fallback: '0',
    shownFallback: '0, no limit',
    description:
      'Size of all built models above which the least recently used ones are removed; units as for --body-limit. They are removed too while less than --low-disk is free.',
    schema: byteSize(0, 1_024 ** 3 * MEBIBYTE),
  }),
  maxCheckpointsPerModel: setting({
    variable: 'ORTLER_MAX_CHECKPOINTS_PER_MODEL',
    flag: '--max-checkpoints-per-model',
    valueName: 'number',
    fallback: '1000',
    description: 'Maximum number of checkpoints that may be registered for one model; further ones get 409.',
    schema: wholeNumber(1, 1_000_000),
  }),
  maxCheckpointsPerTeam: setting({
    variable: 'ORTLER_MAX_CHECKPOINTS_PER_TEAM',
    flag: '--max-checkpoints-per-team',
    valueName: 'number',
    fallback: '10000',
    description:
      'Maximum number of checkpoints that may be registered for all models of one team; further ones get 409.',
    schema: wholeNumber(1, 10_000_000),
  }),
} as const;
