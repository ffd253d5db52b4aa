// Builds a Hugging Face folder or a GGUF file into an ONNX model folder, the output folder that its caller names.

import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { removeAbandonedBuilds } from './build-folder.ts';
import { buildHashedModel } from './build-hashed-model.ts';
import type { BuildManifest } from './build-manifest.ts';
import type { BuildModelOptions } from './build-options.ts';
import { computeContentHash } from './content-hash.ts';
import { ModelBuildError } from './errors.ts';
import { type ExportedFiles, findExports } from './exported/find-exports.ts';

/**
 * Builds a model folder atomically: after a failure nothing is left.
 *
 * Mutates: the disk, at and beside `outputDir`.
 * Throws: `ModelBuildError`, or the reason of `signal`.
 */
export async function buildModel(options: BuildModelOptions): Promise<BuildManifest> {
  const { sourceDir, adapterDir, outputDir, precision, variant = 'kernels', onProgress, signal } = options;
  const { roundsActivations = false } = options;
  if ((await stat(outputDir).catch(() => undefined)) !== undefined) throw outputExists(outputDir);
  // The parent folder may hold other data, so only remains of earlier builds of this output are removed.
  const output = resolve(outputDir);
  await removeAbandonedBuilds(dirname(output), Date.now(), basename(output));
  const exports = await findExports(sourceDir, variant);
  if (exports !== undefined) throw needsNoBuild(sourceDir, exports);
  const contentHash = await computeContentHash({
    sourceDir,
    adapterDir,
    precision,
    variant,
    kvType: options.kvType,
    contextLength: options.contextLength,
    roundsActivations,
    onBytes: (doneBytes, totalBytes) => onProgress?.({ stage: 'hash', doneBytes, totalBytes }),
    signal,
  });
  const result = await buildHashedModel({ ...options, contentHash });
  if (result.kind === 'taken') throw outputExists(outputDir);
  return result.manifest;
}

function needsNoBuild(sourceDir: string, exports: ExportedFiles): ModelBuildError {
  const graphDir = relative(sourceDir, join(exports.folder, exports.graphFolder));
  const files = exports.names.map(name => join(graphDir, name)).join(', ');
  const message = `${sourceDir} was exported to ONNX by another program (${files}) and needs no build: a server takes the folder itself as a model, as in "ortler serve --models name=${sourceDir}"`;
  return new ModelBuildError('unsupported', message, { file: sourceDir });
}

function outputExists(outputDir: string): ModelBuildError {
  const message = `${outputDir} exists already; a build makes its output folder and never overwrites one`;
  return new ModelBuildError('output_exists', message, { file: outputDir });
}
