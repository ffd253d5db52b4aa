// Where the weights of a `kernels` graph are: in memory, where they are read a quarter faster, or in their file, which is mapped. Of a
// mixture of experts a step reads few, so experts stay in the file first. Pages of a mapped file that memory has room for are
// read from the disk once; others each time that they are needed, and none is ever written to a swap.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { availableMemory } from 'node:process';
import type { OrtSessionOptions } from '@ortler/onnxruntime';
import {
  EXPERT_WEIGHTS,
  type ModelManifest,
  ROTARY_TABLES,
  weightsFileName,
} from '../../../graph-contract/index.ts';

/** Weights that take more of the available memory than this stay in their file. */
const LARGEST_MEMORY_SHARE = 0.5;

export interface WeightsPlace extends Pick<OrtSessionOptions, 'weightsFile' | 'mappedWeights'> {
  /** See `CoreFacts.memoryNote`. */
  readonly memoryNote?: string;
}

/** `available`: memory for the weights and all else. Unit: bytes. */
export async function placeWeights(
  modelDir: string,
  { variant, graphFile, experts }: Pick<ModelManifest, 'variant' | 'graphFile' | 'experts'>,
  available = availableMemory(),
): Promise<WeightsPlace> {
  if (variant !== 'kernels') return {};
  const weightsFile = weightsFileName(graphFile);
  const stats = await stat(join(modelDir, weightsFile)).catch(() => undefined);
  // Loading the graph says that the file is missing.
  if (stats === undefined) return {};
  const fits = (bytes: number) => bytes <= LARGEST_MEMORY_SHARE * available;
  if (fits(stats.size)) return { weightsFile, mappedWeights: [ROTARY_TABLES] };
  const room = `half of the available ${gigabytes(available)}`;
  if (experts !== undefined && fits(stats.size - experts.weightBytes))
    return {
      weightsFile,
      mappedWeights: [ROTARY_TABLES, EXPERT_WEIGHTS],
      memoryNote: `The experts, ${gigabytes(experts.weightBytes)} of ${gigabytes(stats.size)} of weights, stay in their file and are read from it on demand, because all weights are more than ${room}.`,
    };
  return {
    memoryNote: `The weights, ${gigabytes(stats.size)}, stay in their file and are read from it on demand, because they are more than ${room}.`,
  };
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}
