// The whole build, step by step.

import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isGpuVariant, MANIFEST_FILE } from '@ortler/engine/graph-contract';
import { totalWeightBytes } from '@ortler/onnx';
import { checkTiedHead } from './blocks/check-tied-head.ts';
import { fuseHeadNorms } from './blocks/fuse-head-norms.ts';
import { createBuildFolder, publishBuildFolder, writeDurably } from './build-folder.ts';
import type { BuildManifest } from './build-manifest.ts';
import type { BuildModelOptions } from './build-options.ts';
import { checkRoom } from './check-room.ts';
import { findCheckpoint, type OpenCheckpoint } from './checkpoint-source.ts';
import { settleKvType } from './content-hash.ts';
import { ModelBuildError } from './errors.ts';
import { findExpertFacts } from './expert-facts.ts';
import { hashFolders } from './file-hashes.ts';
import { fileTypes } from './file-types.ts';
import { findSkewedMatrices } from './find-skewed-matrices.ts';
import type { WeightSource } from './hugging-face/checkpoint.ts';
import type { DecoderConfig } from './hugging-face/decoder-config.ts';
import { DecoderWeights } from './hugging-face/decoder-weights.ts';
import { forContext } from './hugging-face/long-rope.ts';
import { chooseFormats, type MatrixFormats } from './kernels/choose-formats.ts';
import { countFormats } from './kernels/count-formats.ts';
import { fileFormats } from './kernels/file-formats.ts';
import { measureWeightError } from './kernels/weight-error.ts';
import { LoraAdapter } from './lora/adapter.ts';
import { mergeAdapter } from './lora/merged-checkpoint.ts';
import { recordGraph } from './record-graph.ts';
import { toManifest } from './to-manifest.ts';
import { writing } from './write-failed.ts';
import { CUDA_GRAPH_FILE, GRAPH_FILE, WEIGHTS_FILE, writeGraph } from './write-graph.ts';

export type HashedBuildResult =
  | { readonly kind: 'built'; readonly manifest: BuildManifest }
  /** Another process created a folder of this name while this build ran. */
  | { readonly kind: 'taken' };

/** Builds a checkpoint that the caller has hashed already. Throws: as `buildModel`. */
export async function buildHashedModel(
  options: BuildModelOptions & {
    readonly contentHash: string;
    /** File that caches the hashes of the built files. */
    readonly stampPath?: string;
  },
): Promise<HashedBuildResult> {
  const { sourceDir, adapterDir, precision, onProgress, signal, contentHash, stampPath } = options;
  const { variant = 'kernels' } = options;
  const kvType = settleKvType(variant, precision, options.kvType);
  const outputDir = resolve(options.outputDir);

  // 1. Validate the checkpoint before anything is written.
  const opened = await (await findCheckpoint(sourceDir)).open(options);
  const { configFile, weights: stored, writeCompanions } = opened;
  const config = forContext(opened.config, options.contextLength);
  const checkpoint = await withAdapter(stored, adapterDir);
  try {
    checkContextLength(options, opened);
    const weights = new DecoderWeights(checkpoint, config);
    // 2. Choose the formats of matrices that have one each.
    const formats = await matrixFormats(weights, config, { variant, precision, signal });

    const skewed =
      precision === 'q4' && isGpuVariant(variant)
        ? await findSkewedMatrices(weights, config, signal)
        : new Set<string>();
    const weightError =
      formats === undefined || precision !== 'q4'
        ? undefined
        : await measureWeightError(weights, config, formats, signal);
    const keptTypes = precision === 'file' ? fileTypes(weights, config, formats) : undefined;

    // 3. Record the graph, which checks that every tensor exists with the right shape.
    const graph = recordGraph(options, { config, weights, precision, kvType, skewed }, formats);
    const parameterCount = checkpoint.usedElementCount;
    const experts = findExpertFacts(config, graph, parameterCount);
    await checkTiedHead(weights, config, { configFile, signal });

    const folder = await writing(outputDir, () => createBuildFolder(outputDir));
    try {
      // 4. Stream the weights, then write the graph that refers to them.
      const totalBytes = totalWeightBytes(graph);
      await checkRoom(folder, outputDir, totalBytes);
      let doneBytes = 0;
      const report = (bytes: number) => {
        doneBytes += bytes;
        onProgress?.({ stage: 'weights', doneBytes, totalBytes });
      };
      const cudaGraph = variant === 'paged' ? fuseHeadNorms(graph) : undefined;
      await writing(outputDir, () => writeGraph(folder, graph, { cudaGraph, onBytes: report, signal }));

      // 5. Complete the folder, and rename it to its final name only when all of it is on disk.
      onProgress?.({ stage: 'finish', doneBytes, totalBytes });
      return await writing(outputDir, async () => {
        const companions = await writeCompanions(folder);
        const graphs = [GRAPH_FILE, ...(cudaGraph === undefined ? [] : [CUDA_GRAPH_FILE])];
        const names = [...graphs, WEIGHTS_FILE, ...companions];
        const [hashes] = await hashFolders([{ folder, names, stampPath }], { signal });
        const files = Object.fromEntries(hashes!);
        const manifest = toManifest(config, {
          variant,
          ...(cudaGraph === undefined ? {} : { cudaGraphFile: CUDA_GRAPH_FILE }),
          precision,
          kvType,
          contentHash,
          parameterCount,
          ...(experts === undefined ? {} : { experts }),
          ...(formats === undefined ? {} : { weightFormats: countFormats(config, formats) }),
          ...(weightError === undefined ? {} : { weightError }),
          ...(keptTypes === undefined ? {} : { fileTypes: keptTypes }),
          files,
        });
        const json = `${JSON.stringify(manifest, null, 2)}\n`;
        await writeDurably(join(folder, MANIFEST_FILE), file => file.writeFile(json));
        signal?.throwIfAborted();
        return (await publishBuildFolder(folder, outputDir))
          ? { kind: 'built', manifest }
          : { kind: 'taken' };
      });
    } finally {
      // Removes nothing after a success, because the folder has been renamed.
      await rm(folder, { recursive: true, force: true });
    }
  } finally {
    await checkpoint.close();
  }
}

/** Throws: `unsupported` for a longer context than the model has, which an engine would refuse. */
function checkContextLength(
  { contextLength: wanted }: Pick<BuildModelOptions, 'contextLength'>,
  { config: { contextLength: longest }, configFile }: OpenCheckpoint,
): void {
  if (wanted === undefined || wanted <= longest) return;
  const message = `${configFile}: the model has a context of ${longest} tokens; ${wanted} are asked for`;
  throw new ModelBuildError('unsupported', message, { file: configFile });
}

/** Undefined where the precision alone decides. Throws: as `WeightSource.tensor`, or the reason of `signal`. */
async function matrixFormats(
  weights: DecoderWeights,
  config: DecoderConfig,
  {
    variant,
    precision,
    signal,
  }: Required<Pick<BuildModelOptions, 'variant' | 'precision'>> & Pick<BuildModelOptions, 'signal'>,
): Promise<MatrixFormats | undefined> {
  if (variant !== 'kernels') return undefined;
  if (precision === 'q4') return chooseFormats(weights, config, signal);
  return precision === 'file' ? fileFormats(weights, config) : undefined;
}

/** Closes `checkpoint` when the adapter cannot be opened. */
async function withAdapter(checkpoint: WeightSource, adapterDir: string | undefined): Promise<WeightSource> {
  if (adapterDir === undefined) return checkpoint;
  try {
    return mergeAdapter(checkpoint, await LoraAdapter.open(adapterDir));
  } catch (error) {
    await checkpoint.close();
    throw error;
  }
}
