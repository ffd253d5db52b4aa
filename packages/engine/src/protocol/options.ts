// The options of an engine: one table of names, values, ranges and defaults. Types follow from it, `check-options.ts` and
// `settle-options.ts` read it, and the table of options in README.md is generated from it; the comments are its text.
// Options that reach the token side are plain data, because they cross processes and threads.

import { REASONING_PARSERS } from '../request/reasoning-parser.ts';
import { TOOL_DIALECT_OPTIONS } from '../request/tool-dialect-option.ts';

/** One option: its defaults and its range. */
export interface OptionEntry<Value, Default extends Value | undefined = Value | undefined> {
  /** The value of an option that the caller does not set. Undefined: the model or the device decides. */
  readonly cpuDefault: Default;
  readonly deviceDefault: Default;
  /** The range, as error messages name it. */
  readonly range: string;
  readonly isInRange: (value: Value) => boolean;
}

/** Longest delay of a timer in Node. Unit: milliseconds. */
export const LONGEST_TIMEOUT_MS = 2_147_483_647;

/** Options of the model and of how it is served, which the token side settles. */
export const MODEL_OPTIONS = {
  /** Device that runs the model. `auto`: the one that the folder was built for. */
  device: oneOf(['auto', 'cpu', 'webgpu', 'cuda'], 'auto'),
  /**
   * Whether the CPU may take over: a model with slots whose graph would leave operators on the CPU then runs there as a
   * whole and says why. Without it the model runs on the device and says which operators are left.
   */
  isDeviceOptional: flag(false),
  /** Threads of one model call, and of sampling where the vocabulary is large (four at most). 0: one for each core. */
  threadCount: count({ min: 0, cpuDefault: 0 }),
  /** Maximum number of sequences that run at the same time; with slots each has a cache slot. */
  maxSequences: count({ min: 1, cpuDefault: 8 }),
  /** Maximum number of tokens in a sequence. Default: what the model was built for. */
  contextLength: count({ min: 1, cpuDefault: undefined }),
  /** Prefix caching: the keys and values of a prompt are kept for later requests that begin alike. */
  prefixCaching: flag(true),
  /** Whether `onCacheEvents` reports which prompts are cached, for routers. Off, it costs nothing. */
  cacheEvents: flag(false),
  /** The order of requests: by arrival (`fcfs`), or by `priority` and then arrival. */
  schedulingPolicy: oneOf(['fcfs', 'priority'], 'fcfs'),
} as const;

/** Options of the step loop and the cache. Their defaults are measured; few programs need others. */
export const TUNING_OPTIONS = {
  /** ONNX Runtime binding. `auto`: `native` where its library loads, else `node`. */
  backend: oneOf(['auto', 'native', 'node'], 'auto'),
  /** Maximum number of prompt tokens of one step; longer prompts are prefilled in chunks. */
  prefillChunkLength: count({ min: 1, cpuDefault: 256 }),
  /**
   * Maximum number of prompt tokens in a step that also decodes. Smaller keeps inter-token latency even,
   * larger lets new answers start sooner. Deep in a prompt it is less, down to a quarter, because a token
   * takes longer there.
   */
  // CPU: about as long as a step of eight decodes on two cores at the beginning of a prompt; ADR 12 has the measurement.
  // Device: about as many tokens as it computes in the time in which it reads float16 weights.
  mixedChunkLength: count({ min: 1, cpuDefault: 32, deviceDefault: 128 }),
  /** Threads of a model call wait for each other in a busy loop for a short while before they sleep. */
  // On a device little is left for the CPU: threads that spin would only take a core from the rest.
  spin: flag(true, { deviceDefault: false }),
  /**
   * Cache slots besides those of `maxSequences`, for the prefix cache alone. A slot takes memory for the longest sequence
   * that it ever held. On a device: memory for this many whole contexts. Without `prefixCaching`: 0.
   */
  cacheSlots: count({ min: 0, cpuDefault: 4 }),
  /**
   * Memory of the KV cache of a model with a paged cache. Unit: bytes. Default: what the device has besides the weights, as
   * far as the sequences can fill it.
   */
  cacheBytes: count({ min: 1, cpuDefault: undefined }),
  /**
   * Speculative decoding by prompt lookup, while it is faster. Tokens are drawn as without it, from logits that may round
   * otherwise. On a device only where tokens are sampled there.
   */
  speculativeDecoding: oneOf(['auto', 'off'], 'auto'),
  /** Maximum number of sequences that wait; more are refused as `overloaded`. */
  maxQueuedSequences: count({ min: 0, cpuDefault: 256 }),
} as const;

/** Options of the process that calls the engine. */
export const HOST_OPTIONS = {
  /**
   * Where the token side runs. `worker`: a thread of this process. `process`: a child process, so that a native crash fails
   * that model's requests only and the model is restarted. `in-process`: this thread; each model call blocks it, for tests
   * and scripts.
   */
  link: oneOf(['worker', 'process', 'in-process'], 'worker'),
  /**
   * Whether generation_config.json gives the defaults of a request: sampling settings and the maximum number
   * of tokens. Without it sampling is neutral, and an answer may fill the context. The end tokens of the file
   * count in either case.
   */
  modelDefaults: flag(true),
  /**
   * Reasoning format of the model, by name. `auto`: the format whose mark the chat template has. `none`: no format, so events
   * carry all output in `text`.
   */
  reasoningParser: oneOf(REASONING_PARSERS, 'auto'),
  /**
   * Dialect in which the model writes tool calls, by name. `auto`: the one in which the chat template writes past calls, else
   * `generic`. `generic`: JSON between `<tool_call>` and `</tool_call>`, which the messages themselves describe to the model.
   */
  toolDialect: oneOf(TOOL_DIALECT_OPTIONS, 'auto'),
  /**
   * A model that is stuck in one step for this long, as in a native call that never returns, is ended and loaded again; its
   * open requests fail. It is noticed up to a quarter later. Only with `link: 'process'`. Unit: milliseconds. 0: never.
   */
  stepTimeoutMs: count({ min: 0, max: LONGEST_TIMEOUT_MS, cpuDefault: 300_000 }),
} as const;

type ValueOf<Entry> = Entry extends { readonly isInRange: (value: infer Value) => boolean } ? Value : never;
export type ValuesOf<Table> = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> | undefined };

export interface TuningOptions extends ValuesOf<typeof TUNING_OPTIONS> {}

/** The part of the options that the token side is started with. */
export interface CoreOptions extends ValuesOf<typeof MODEL_OPTIONS> {
  /** Folder with `ortler-model.json` and the tokenizer files, as model-builder writes it. */
  readonly modelDir: string;
  readonly tuning?: TuningOptions | undefined;
}

function flag(cpuDefault: boolean, { deviceDefault = cpuDefault } = {}): OptionEntry<boolean, boolean> {
  return {
    cpuDefault,
    deviceDefault,
    range: 'true or false',
    isInRange: value => typeof value === 'boolean',
  };
}

function oneOf<const Value extends string>(
  values: readonly Value[],
  cpuDefault: NoInfer<Value>,
): OptionEntry<Value, Value> {
  const range = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return { cpuDefault, deviceDefault: cpuDefault, range, isInRange: value => values.includes(value) };
}

function count<Default extends number | undefined>({
  min,
  max = Number.MAX_SAFE_INTEGER,
  cpuDefault,
  deviceDefault,
}: {
  readonly min: number;
  readonly max?: number;
  readonly cpuDefault: Default;
  readonly deviceDefault?: Default;
}): OptionEntry<number, Default> {
  const range =
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${min}`
      : `a whole number from ${min} to ${max}`;
  const isInRange = (value: number) => Number.isInteger(value) && value >= min && value <= max;
  return { cpuDefault, deviceDefault: deviceDefault ?? cpuDefault, range, isInRange };
}
