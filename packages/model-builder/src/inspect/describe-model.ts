// Describes whatever a user may give as a model: a built folder, an export, a Hugging Face folder, a GGUF file.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GraphVariant } from '@ortler/engine/graph-contract';
import { ModelBuildError } from '../errors.ts';
import { findExports } from '../exported/find-exports.ts';
import { checkReadable } from '../read-fault.ts';
import { describeBuilt } from './describe-built.ts';
import { describeCheckpoint } from './describe-checkpoint.ts';
import { describeExport } from './describe-export.ts';
import type { ModelDescription } from './model-description.ts';

export interface DescribeModelOptions {
  /** `paged` for a GPU, the others for the CPU. */
  readonly variant: GraphVariant;
  /** Files whose content is not there, because only headers were downloaded. */
  readonly emptyFiles?: ReadonlySet<string>;
}

/**
 * Reads configuration and headers only. What a build would refuse is the `fault` of the description; faults of files that nothing
 * can be said of are thrown.
 *
 * Throws: `ModelBuildError`.
 */
export async function describeModel(
  path: string,
  { variant, emptyFiles = new Set() }: DescribeModelOptions,
): Promise<ModelDescription> {
  await checkReadable(path);
  const built = await describeBuilt(path);
  if (built !== undefined) return built;
  if ((await stat(join(path, 'adapter_config.json')).catch(() => undefined)) !== undefined) {
    const message = `${path} is a LoRA adapter, which is merged into a model when that is built`;
    throw new ModelBuildError('unsupported', message, { file: path });
  }
  const exports = await findExports(path, variant);
  if (exports === undefined) return describeCheckpoint(path);
  return describeExport({ exports, variant, hasGraph: file => !emptyFiles.has(file) });
}
