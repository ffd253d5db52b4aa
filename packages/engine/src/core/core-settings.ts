// The settings of the step loop and the facts that it reports. Defaults of options come from the table of options.
// `load-core.ts` fills the settings from the options of the model; tests fill them directly.

import type { CoreFacts } from '../protocol/messages.ts';
import { MODEL_OPTIONS, TUNING_OPTIONS } from '../protocol/options.ts';
import type { RunnerFacts } from './runners/model-runner.ts';
import type { Drafter } from './speculative-decoding/drafter.ts';
import { PromptLookupDrafter } from './speculative-decoding/prompt-lookup-drafter.ts';

export interface EngineCoreSettings {
  /** Maximum number of sequences that run at the same time. Default: as many as the runner has slots. */
  readonly maxSequences?: number | undefined;
  /** Maximum number of prompt tokens of one step. */
  readonly prefillChunkLength: number;
  /** Maximum number of prompt tokens of a step that decodes as well. Default: that of a model on the CPU. */
  readonly mixedChunkLength?: number | undefined;
  /** Default: `fcfs`. */
  readonly schedulingPolicy?: 'fcfs' | 'priority' | undefined;
  /** Prefix caching: computed tokens stay cached for later sequences that begin alike. Default: true. */
  readonly prefixCaching?: boolean | undefined;
  /** Tokens of a block of the prefix index: no shorter prefix is ever found. Default: 16. */
  readonly cacheBlockLength?: number;
  /** Speculative decoding. Default: prompt lookup; null: none. */
  readonly drafter?: Drafter | null | undefined;
  /** Maximum number of sequences waiting for a slot; more is `overloaded`. */
  readonly maxQueuedSequences: number;
  /** How often a failed step is tried again before its requests fail. Default: 2. */
  readonly stepRetryLimit?: number;
  /** How many steps in a row may be given up before the model counts as broken. Default: 3. */
  readonly fatalFailureLimit?: number | undefined;
  /** The time. Unit: milliseconds. Default: the process's monotonic clock. */
  readonly now?: () => number;
  /** Why the ONNX Runtime binding in use is not the preferred one; shown in the facts. */
  readonly backendNote?: string | undefined;
  /** Why a model on a device is not sampled there; shown in the facts. */
  readonly samplingNote?: string | undefined;
  /** See `CoreFacts.weightBytes`. Default: 0. */
  readonly weightBytes?: number;
  /** See `CoreFacts.deviceNote`. */
  readonly deviceNote?: string | undefined;
  /** Whether steps report changes of the prefix cache. Default: false. */
  readonly cacheEvents?: boolean | undefined;
}

/** See `CoreFacts`. */
export type CacheBlocks = Pick<CoreFacts, 'cacheBlockLength' | 'cacheBlockCount'>;

/** Settings that are only shown in the facts. */
type Notes = Pick<EngineCoreSettings, 'backendNote' | 'samplingNote' | 'deviceNote' | 'weightBytes'>;

/** Settings with every default filled in. */
export type SettledCoreSettings = {
  readonly [Name in Exclude<keyof EngineCoreSettings, keyof Notes | 'cacheEvents'>]-?: Exclude<
    EngineCoreSettings[Name],
    undefined
  >;
};

/** Tokens of a block: small enough that short system prompts are found, large enough that indexing costs nothing. */
const DEFAULT_BLOCK_LENGTH = 16;

/** Fills the defaults. */
export function settleCoreSettings(settings: EngineCoreSettings, facts: RunnerFacts): SettledCoreSettings {
  return {
    maxSequences: settings.maxSequences ?? facts.slotCount,
    prefillChunkLength: settings.prefillChunkLength,
    mixedChunkLength: settings.mixedChunkLength ?? TUNING_OPTIONS.mixedChunkLength.cpuDefault,
    schedulingPolicy: settings.schedulingPolicy ?? MODEL_OPTIONS.schedulingPolicy.cpuDefault,
    prefixCaching: settings.prefixCaching ?? MODEL_OPTIONS.prefixCaching.cpuDefault,
    cacheBlockLength: settings.cacheBlockLength ?? DEFAULT_BLOCK_LENGTH,
    drafter: settings.drafter === undefined ? new PromptLookupDrafter() : settings.drafter,
    maxQueuedSequences: settings.maxQueuedSequences,
    stepRetryLimit: settings.stepRetryLimit ?? 2,
    fatalFailureLimit: settings.fatalFailureLimit ?? 3,
    now: settings.now ?? (() => performance.now()),
  };
}

/** The public facts of the token side. */
export function toCoreFacts(
  runnerFacts: RunnerFacts,
  maxSequences: number,
  { backendNote, samplingNote, deviceNote, weightBytes = 0, ...cacheBlocks }: Notes & CacheBlocks,
): CoreFacts {
  const { kind, backend, device, vocabSize, contextLength, onnxRuntimeVersion } = runnerFacts;
  const { cacheBytes, kernels, memoryNote } = runnerFacts;
  return {
    backend,
    runner: kind,
    device,
    vocabSize,
    contextLength,
    maxSequences,
    onnxRuntimeVersion,
    weightBytes,
    cacheBytes,
    cacheBlockLength: cacheBlocks.cacheBlockLength,
    cacheBlockCount: cacheBlocks.cacheBlockCount,
    ...(kernels === undefined ? {} : { kernels }),
    ...(backendNote === undefined ? {} : { backendNote }),
    ...(samplingNote === undefined ? {} : { samplingNote }),
    ...(deviceNote === undefined ? {} : { deviceNote }),
    ...(memoryNote === undefined ? {} : { memoryNote }),
  };
}
