// Whether the device computes what the CPU does: log probabilities of a prompt, within float16. A benchmark of wrong
// numbers does not count.

import type { Engine } from '@ortler/engine';

const PROMPT_LENGTH = 48;

export interface LogprobDifference {
  readonly tokenCount: number;
  /** Largest and mean difference of log probabilities. */
  readonly largest: number;
  readonly mean: number;
}

/** Log probabilities in float16 through some ten layers differ by a few hundredths. A wrong kernel gives whole numbers. */
const LARGEST_MEAN = 0.05;

/** Builds in 4 bits for GPUs and for CPUs round weights in other ways (ADR 67). */
const LARGEST_MEAN_IN_4_BITS = 0.3;

/** Throws: when they differ by more than float16 explains. */
export async function checkDevice(device: Engine, processor: Engine): Promise<LogprobDifference> {
  const limit = device.info.precision === 'q4' ? LARGEST_MEAN_IN_4_BITS : LARGEST_MEAN;
  return compareLogprobs(await promptLogprobs(device), await promptLogprobs(processor), 'The device', limit);
}

/** Throws: as `checkDevice`. `who`: whose are the first ones. */
export function compareLogprobs(
  actual: readonly number[],
  expected: readonly number[],
  who: string,
  largestMean = LARGEST_MEAN,
): LogprobDifference {
  const differences = actual.map((value, index) => Math.abs(value - expected[index]!));
  const largest = Math.max(...differences);
  const mean = differences.reduce((sum, value) => sum + value, 0) / differences.length;
  if (!(mean < largestMean))
    throw new Error(`${who} computes other log probabilities than it should: ${mean} apart in the mean.`);
  return { tokenCount: differences.length, largest, mean };
}

/** The prompt that is compared. */
export function checkedPrompt(vocabSize: number): readonly number[] {
  return Array.from({ length: PROMPT_LENGTH }, (_, i) => (i * 7919 + 13) % vocabSize);
}

/** Of each token of the prompt but the first. */
export async function promptLogprobs(engine: Engine): Promise<readonly number[]> {
  const tokenIds = checkedPrompt(engine.info.vocabSize);
  const request = {
    prompt: { tokenIds },
    promptLogprobs: { topCount: 0 },
    stop: { maxTokens: 1 },
  } as const;
  for await (const event of engine.generate(request)) {
    if (event.kind === 'prompt-ready')
      return event.promptLogprobs!.flatMap(one => (one === null ? [] : [one.logprob]));
  }
  throw new Error('The engine gave no prompt.');
}
