// A token side without a model, for tests of links and of the engine above them: the prompt scripts its output.

import { EngineCore } from '../core/engine-core.ts';
import { HostStepRunner } from '../core/step/host-step-runner.ts';
import { EngineError } from '../errors.ts';
import type { LoopCore } from '../link/core-loop.ts';
import type { WarmUpProgress } from '../protocol/messages.ts';
import type { CoreOptions } from '../protocol/options.ts';
import { ScriptedModel } from './scripted-model.ts';

/** The token that ends a scripted prompt: after it the model repeats what came before it. */
export const ECHO_TOKEN = 1;
/** Follows the repeated prompt for ever. */
export const SCRIPTED_EOS_TOKEN = 0;
/** A prompt that begins with this token breaks the token side. */
export const POISON_TOKEN = 2;
/** A prompt that begins with this token makes the token side hang like a native call: its thread never returns. */
export const HANG_TOKEN = 3;
/** Calls of a scripted warm-up. */
export const SCRIPTED_WARM_UP_COUNT = 2;
/** A model folder of this name cannot be loaded. */
export const MISSING_MODEL_DIR = 'missing-model';

export interface ScriptedCoreSettings {
  readonly vocabSize?: number;
  /** The token that the model prefers after these. Default: `echoToken`. */
  readonly nextToken?: (history: readonly number[]) => number;
  /** Unit: milliseconds for each step. */
  readonly delayMs?: number;
  /** 0 draws from the whole vocabulary instead of following the script. */
  readonly peak?: number;
}

/** Next token of `[...answer, ECHO_TOKEN, ...answerSoFar]`. */
function echoToken(history: readonly number[]): number {
  const answerLength = history.indexOf(ECHO_TOKEN);
  const saidLength = history.length - answerLength - 1;
  return saidLength < answerLength ? history[saidLength]! : SCRIPTED_EOS_TOKEN;
}

/** A `LoadCore` over a scripted model. */
export function loadScriptedCore(settings: ScriptedCoreSettings = {}) {
  return async (options: CoreOptions, onWarmUp: (progress: WarmUpProgress) => void): Promise<LoopCore> => {
    if (options.modelDir === MISSING_MODEL_DIR) {
      throw new EngineError('model_invalid', 'The scripted model folder is missing.');
    }
    for (let doneCount = 0; doneCount <= SCRIPTED_WARM_UP_COUNT; doneCount++)
      onWarmUp({ doneCount, totalCount: SCRIPTED_WARM_UP_COUNT });
    const { maxSequences = 4, contextLength = 256, schedulingPolicy, prefixCaching, tuning = {} } = options;
    const { prefillChunkLength = 16, mixedChunkLength, maxQueuedSequences = 16, cacheSlots = 0 } = tuning;
    const model = new ScriptedModel({
      vocabSize: settings.vocabSize ?? 64,
      contextLength,
      slotCount: maxSequences + cacheSlots,
      nextToken: settings.nextToken ?? echoToken,
      ...(settings.peak === undefined ? {} : { peak: settings.peak }),
      ...(settings.delayMs === undefined ? {} : { delayMs: settings.delayMs }),
    });
    const core = new EngineCore(new HostStepRunner(model), {
      maxSequences,
      schedulingPolicy,
      prefixCaching,
      prefillChunkLength,
      mixedChunkLength,
      maxQueuedSequences,
      drafter: tuning.speculativeDecoding === 'off' ? null : undefined,
    });
    const submit = core.submit.bind(core);
    let isHanging = false;
    core.submit = message => {
      isHanging ||= message.promptTokenIds[0] === HANG_TOKEN;
      if (message.promptTokenIds[0] === POISON_TOKEN) throw new Error('The scripted model was poisoned.');
      submit(message);
    };
    const step = core.step.bind(core);
    core.step = () => {
      if (isHanging) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return step();
    };
    return core;
  };
}

export const SCRIPTED_CORE_OPTIONS: CoreOptions = {
  modelDir: 'scripted-model',
  device: 'cpu',
  threadCount: 1,
  maxSequences: 4,
  contextLength: 256,
};
