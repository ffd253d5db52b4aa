// The one table of settings: environment variable, flag, default, meaning and check. Parsing, `--help` and the
// README's table are all made from it.

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { REASONING_PARSERS } from '@ortler/api';
import { z } from 'zod';
import {
  byteSize,
  clickhouseUrl,
  MEBIBYTE,
  modelList,
  oneOf,
  originList,
  postgresUrl,
  reasoningParsers,
  wholeNumber,
} from './setting-values.ts';

/** One setting. The schema reads text, because both flags and variables are text. */
export interface Setting<Value> {
  readonly variable: `ORTLER_${string}` | 'DATABASE_URL' | 'CLICKHOUSE_URL';
  readonly flag: `--${string}`;
  /** Placeholder of the flag's value in `--help`. */
  readonly valueName: string;
  /** Text used when neither flag nor variable is given; undefined when the setting is then absent. */
  readonly fallback: string | undefined;
  /** How `--help` shows the default where the text itself would not help. */
  readonly shownFallback?: string;
  readonly description: string;
  /** Whether the value must not be repeated in messages. */
  readonly isSecret?: boolean;
  readonly schema: z.ZodType<Value, string>;
}

/** The demo model beside this package's sources: `<repository>/models/demo`. */
export const DEMO_MODEL_DIR = resolve(import.meta.dirname, '../../../../models/demo');

export const SETTINGS = {
  host: setting({
    variable: 'ORTLER_HOST',
    flag: '--host',
    valueName: 'address',
    fallback: '127.0.0.1',
    description: 'Address to listen on; 0.0.0.0 for every interface.',
    schema: z.string().min(1, 'must not be empty'),
  }),
  port: setting({
    variable: 'ORTLER_PORT',
    flag: '--port',
    valueName: 'number',
    fallback: '8000',
    description: 'Port to listen on; 0 takes a free one.',
    schema: wholeNumber(0, 65_535),
  }),
  dataDir: setting({
    variable: 'ORTLER_DATA_DIR',
    flag: '--data-dir',
    valueName: 'folder',
    fallback: '.ortler',
    description: 'Folder of the database and of built models.',
    schema: z
      .string()
      .min(1, 'must not be empty')
      .transform(folder => resolve(folder)),
  }),
  databaseUrl: setting<string | undefined>({
    variable: 'DATABASE_URL',
    flag: '--database-url',
    valueName: 'url',
    fallback: undefined,
    shownFallback: 'SQLite in the data folder',
    description:
      'PostgreSQL 15 or later, shared by several servers: postgres://user:password@host/database. Prefer the variable.',
    schema: postgresUrl(),
    isSecret: true,
  }),
  clickhouseUrl: setting<string | undefined>({
    variable: 'CLICKHOUSE_URL',
    flag: '--clickhouse-url',
    valueName: 'url',
    fallback: undefined,
    shownFallback: 'feedback beside everything else',
    description:
      'ClickHouse 24.8 or later for feedback, and for feedback only: http://user:password@host:8123/database. Several servers on one ClickHouse need one DATABASE_URL too. Prefer the variable.',
    schema: clickhouseUrl(),
    isSecret: true,
  }),
  queryTimeLimitMs: setting({
    variable: 'ORTLER_QUERY_TIME_LIMIT_MS',
    flag: '--query-time-limit-ms',
    valueName: 'milliseconds',
    fallback: '30000',
    description: 'Longest time a feedback query may take before it is stopped.',
    schema: wholeNumber(100, 3_600_000),
  }),
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
      "Numbers of the cache of models built here: auto, the device's own (f32, on a GPU f16), or on the processor int8: a quarter of the memory and faster answers over long contexts, for a small loss.",
    schema: oneOf(['auto', 'f32', 'f16', 'int8']),
  }),
  threads: setting({
    variable: 'ORTLER_THREADS',
    flag: '--threads',
    valueName: 'number',
    fallback: '0',
    shownFallback: '0, all cores',
    description: 'Threads of one model call; 0 takes as many as the machine has cores.',
    schema: wholeNumber(0, Math.max(256, availableParallelism())),
  }),
  maxSequences: setting({
    variable: 'ORTLER_MAX_SEQUENCES',
    flag: '--max-sequences',
    valueName: 'number',
    fallback: '8',
    description: 'Answers of one model that are generated at the same time; more wait in a queue.',
    schema: wholeNumber(1, 1_024),
  }),
  maxQueued: setting({
    variable: 'ORTLER_MAX_QUEUED',
    flag: '--max-queued',
    valueName: 'number',
    fallback: '256',
    description:
      'Answers of one model that may wait for their start; more are refused with 429 and a time to wait.',
    schema: wholeNumber(0, 100_000),
  }),
  scheduling: setting({
    variable: 'ORTLER_SCHEDULING',
    flag: '--scheduling',
    valueName: 'name',
    fallback: 'fcfs',
    description:
      'Who starts first: fcfs, in order of arrival, or priority, by the priority of the request, lower first.',
    schema: oneOf(['fcfs', 'priority']),
  }),
  prefillGraph: setting({
    variable: 'ORTLER_PREFILL_GRAPH',
    flag: '--prefill-graph',
    valueName: 'on or off',
    fallback: 'on',
    description:
      'Whether prompts of models in 4 bits are computed with 8-bit integers: several times faster, for one more byte of memory per weight.',
    schema: oneOf(['on', 'off']),
  }),
  prefixCache: setting({
    variable: 'ORTLER_PREFIX_CACHE',
    flag: '--prefix-cache',
    valueName: 'on or off',
    fallback: 'on',
    description: 'Whether computed prompts are kept for later requests that begin alike.',
    schema: oneOf(['on', 'off']),
  }),
  cacheSlots: setting({
    variable: 'ORTLER_CACHE_SLOTS',
    flag: '--cache-slots',
    valueName: 'number',
    fallback: '4',
    description:
      'Places for computed prompts besides those of running answers. Each takes as much memory as the longest prompt and answer it ever held. Unused without the prefix cache.',
    schema: wholeNumber(0, 1_024),
  }),
  cacheBytes: setting<number | undefined>({
    variable: 'ORTLER_CACHE_MEMORY',
    flag: '--cache-memory',
    valueName: 'size',
    fallback: undefined,
    shownFallback: 'what the model leaves of the device, as far as it can be used',
    description:
      'Memory of each model on a GPU for prompts and answers: bytes, or a number with kb, mb or gb.',
    schema: byteSize(MEBIBYTE, 1_024 * 1_024 * MEBIBYTE),
  }),
  speculation: setting({
    variable: 'ORTLER_SPECULATION',
    flag: '--speculation',
    valueName: 'auto or off',
    fallback: 'auto',
    description:
      'Whether repetitions in a text, and what a constraint leaves no choice about, are used to check several next tokens in one model call, while that is faster. Answers are the same but for rounding.',
    schema: oneOf(['auto', 'off']),
  }),
  constraintTimeLimitMs: setting({
    variable: 'ORTLER_CONSTRAINT_TIME_LIMIT_MS',
    flag: '--constraint-time-limit-ms',
    valueName: 'milliseconds',
    fallback: '2000',
    description:
      'Longest time the preparation of a schema, pattern or grammar may take, and the check of a finished answer.',
    schema: wholeNumber(10, 600_000),
  }),
  constraintSizeBytes: setting({
    variable: 'ORTLER_CONSTRAINT_SIZE',
    flag: '--constraint-size',
    valueName: 'size',
    fallback: '256kb',
    description: 'Largest schema, grammar, choice or structural tag; as --body-limit.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  constraintDepth: setting({
    variable: 'ORTLER_CONSTRAINT_DEPTH',
    flag: '--constraint-depth',
    valueName: 'levels',
    fallback: '64',
    description: 'Deepest nesting of schemas, groups of grammars and structural tags.',
    schema: wholeNumber(1, 120),
  }),
  constraintValues: setting({
    variable: 'ORTLER_CONSTRAINT_VALUES',
    flag: '--constraint-values',
    valueName: 'number',
    fallback: '10000',
    description: 'Most values in the enums of a schema together, and most texts of a choice.',
    schema: wholeNumber(1, 1_000_000),
  }),
  constraintRules: setting({
    variable: 'ORTLER_CONSTRAINT_RULES',
    flag: '--constraint-rules',
    valueName: 'number',
    fallback: '2000',
    description: 'Most rules of a grammar.',
    schema: wholeNumber(1, 10_000),
  }),
  constraintPatternSize: setting({
    variable: 'ORTLER_CONSTRAINT_PATTERN_SIZE',
    flag: '--constraint-pattern-size',
    valueName: 'number',
    fallback: '20000',
    description: 'Most characters of a regular expression once its counted repetitions are written out.',
    schema: wholeNumber(1, 10_000_000),
  }),
  prefillChunk: setting({
    variable: 'ORTLER_PREFILL_CHUNK',
    flag: '--prefill-chunk',
    valueName: 'tokens',
    fallback: '128',
    description: 'Most prompt tokens of one step while no answer runs.',
    schema: wholeNumber(1, 65_536),
  }),
  mixedChunk: setting<number | undefined>({
    variable: 'ORTLER_MIXED_CHUNK',
    flag: '--mixed-chunk',
    valueName: 'tokens',
    fallback: undefined,
    shownFallback: '32, or 128 on a GPU',
    description:
      'Most prompt tokens of one step while answers run, fewer deep in a prompt: smaller keeps answers even, larger lets new ones start sooner.',
    schema: wholeNumber(1, 65_536),
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
  reasoningParsers: setting({
    variable: 'ORTLER_REASONING_PARSER',
    flag: '--reasoning-parser',
    valueName: 'name|id=name,...',
    fallback: 'auto',
    shownFallback: "auto, by the model's chat template",
    description: `How what models think is told from what they answer, for all or for one model each: ${REASONING_PARSERS.join(', ')}.`,
    schema: reasoningParsers(),
  }),
  promptCacheScope: setting({
    variable: 'ORTLER_PROMPT_CACHE_SCOPE',
    flag: '--prompt-cache-scope',
    valueName: 'name',
    fallback: 'team',
    description:
      'Whose requests may share cached prompts: those of one team, or with server those of everybody. Shared ones show in waiting times.',
    schema: oneOf(['team', 'server']),
  }),
  apiKey: setting<string | undefined>({
    variable: 'ORTLER_API_KEY',
    flag: '--api-key',
    valueName: 'key',
    fallback: undefined,
    shownFallback: 'a key made and printed on first start',
    description:
      'A key that is accepted besides the stored ones. Prefer the variable: flags show in process lists.',
    schema: z
      .string()
      .min(1, 'must not be empty')
      .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces'),
    isSecret: true,
  }),
  corsOrigins: setting({
    variable: 'ORTLER_CORS_ORIGINS',
    flag: '--cors-origins',
    valueName: 'origin,...',
    fallback: '*',
    description: 'Web origins that browsers may call from; * for all, none for no cross-origin calls.',
    schema: originList(),
  }),
  bodyLimitBytes: setting({
    variable: 'ORTLER_BODY_LIMIT',
    flag: '--body-limit',
    valueName: 'size',
    fallback: '8mb',
    description: 'Largest request body: bytes, or a number with kb, mb or gb.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  logBodyLimitBytes: setting({
    variable: 'ORTLER_LOG_BODY_LIMIT',
    flag: '--log-body-limit',
    valueName: 'size',
    fallback: '256mb',
    description: 'Largest body of logged trajectories, which is stored as it arrives; as --body-limit.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  checkpointDir: setting<string | undefined>({
    variable: 'ORTLER_CHECKPOINT_DIR',
    flag: '--checkpoint-dir',
    valueName: 'folder',
    fallback: undefined,
    shownFallback: 'checkpoints in the data folder',
    description: 'Folder under which the weights of registered checkpoints must lie.',
    schema: z
      .string()
      .min(1, 'must not be empty')
      .transform(folder => resolve(folder)),
  }),
  drainMs: setting({
    variable: 'ORTLER_DRAIN_MS',
    flag: '--drain-ms',
    valueName: 'milliseconds',
    fallback: '10000',
    description: 'How long open answers may go on after a stop signal.',
    schema: wholeNumber(0, 600_000),
  }),
  logLevel: setting({
    variable: 'ORTLER_LOG_LEVEL',
    flag: '--log-level',
    valueName: 'name',
    fallback: 'warn',
    description:
      'Least serious log lines to write (JSON, to standard error): silent, error, warn, info or debug.',
    schema: oneOf(['silent', 'error', 'warn', 'info', 'debug']),
  }),
} as const;

function setting<Value>(fields: Setting<Value>): Setting<Value> {
  return fields;
}
