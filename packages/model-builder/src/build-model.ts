// Builds a Hugging Face folder or a GGUF file into an ONNX model folder. `buildHashedModel` is the whole build, step by step.

import { rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import {
  GRAPH_FORMAT_VERSION,
  type GraphVariant,
  isGpuVariant,
  type KvType,
  MANIFEST_FILE,
  type Precision,
  weightsFileName,
} from '@ortler/engine/graph-contract';
import {
  encodeModel,
  GraphRecorder,
  totalWeightBytes,
  type WriteWeightsOptions,
  writeWeights,
} from '@ortler/onnx';
import { recordDecoderGraph } from './architectures/decoder-graph.ts';
import type { BlockContext } from './blocks/block-context.ts';
import { checkTiedHead } from './blocks/check-tied-head.ts';
import { fuseHeadNorms } from './blocks/fuse-head-norms.ts';
import { VARIANTS } from './blocks/variant.ts';
import {
  createBuildFolder,
  publishBuildFolder,
  removeAbandonedBuilds,
  writeDurably,
} from './build-folder.ts';
import type { BuildManifest } from './build-manifest.ts';
import { findCheckpoint, type OpenCheckpoint } from './checkpoint-source.ts';
import { BUILDER_VERSION, computeContentHash, settleKvType } from './content-hash.ts';
import { ModelBuildError } from './errors.ts';
import { findExpertFacts } from './expert-facts.ts';
import { type ExportedFiles, findExports } from './exported/find-exports.ts';
import { hashFolders } from './file-hashes.ts';
import { fileTypes } from './file-types.ts';
import { findSkewedMatrices } from './find-skewed-matrices.ts';
import type { WeightSource } from './hugging-face/checkpoint.ts';
import type { DecoderConfig } from './hugging-face/decoder-config.ts';
import { DecoderWeights } from './hugging-face/decoder-weights.ts';
import { forContext, longRopeChoice } from './hugging-face/long-rope.ts';
import { chooseFormats, type MatrixFormats } from './kernels/choose-formats.ts';
import { countFormats } from './kernels/count-formats.ts';
import { fileFormats } from './kernels/file-formats.ts';
import { type KernelsGraphParts, recordKernelsGraph } from './kernels/kernels-graph.ts';
import { measureWeightError } from './kernels/weight-error.ts';
import { findLayerCaches } from './layer-caches.ts';
import { LoraAdapter } from './lora/adapter.ts';
import { mergeAdapter } from './lora/merged-checkpoint.ts';
import type { WrittenMatrix } from './weights/written-matrix.ts';
import { writing } from './write-failed.ts';

const GRAPH_FILE = 'model.onnx';
const CUDA_GRAPH_FILE = 'model.cuda.onnx';
const WEIGHTS_FILE = weightsFileName(GRAPH_FILE);

/** Stage and progress of a build. `hash` reads the checkpoint, `weights` writes the model. */
export interface BuildProgress {
  readonly stage: 'hash' | 'weights' | 'finish';
  readonly doneBytes: number;
  readonly totalBytes: number;
}

export interface BuildModelOptions {
  /** Folder with `config.json`, `tokenizer.json` and `*.safetensors`, a GGUF file, or a folder with one GGUF model. */
  readonly sourceDir: string;
  /** Folder of a PEFT LoRA adapter (`adapter_config.json`, `adapter_model.safetensors`) to merge into the weights. */
  readonly adapterDir?: string | undefined;
  /** Folder to create; it must not exist. */
  readonly outputDir: string;
  readonly precision: Precision;
  /** `kernels` or `slots` for the CPU, `paged` or `device-slots` for a GPU. Default: `kernels`. Precisions: `VARIANT_PRECISIONS`. */
  readonly variant?: GraphVariant | undefined;
  /**
   * Only for a GPU, in q4 or q8: quantises activations to int8 in the products (`accuracy_level` 4 of MatMulNBits), which may
   * or may not be faster on a GPU. Default: false.
   */
  readonly roundsActivations?: boolean | undefined;
  /** Type of the KV cache. Default: `defaultKvType`. */
  readonly kvType?: KvType | undefined;
  /**
   * Longest context that the build is for. It decides the factors of LongRoPE (long ones above the original context) and nothing else.
   * Unit: tokens; at most that of the model, the default.
   */
  readonly contextLength?: number | undefined;
  /** Whether the model will be served with the defaults of its generation_config.json: a wrong one is refused. Default: false. */
  readonly modelDefaults?: boolean | undefined;
  readonly onProgress?: ((progress: BuildProgress) => void) | undefined;
  /**
   * Called with each matrix of a `kernels` graph once it is quantised, in the order of the file. Measuring its error takes about
   * as long as quantising it; without this nothing is measured.
   */
  readonly onMatrix?: ((matrix: WrittenMatrix) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

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

/** Throws: `unsupported` for `roundsActivations` in graphs without quantised weights, or that always round. */
function recordGraph(
  { variant = 'kernels', roundsActivations = false, onMatrix }: BuildModelOptions,
  { skewed, ...parts }: KernelsGraphParts & Pick<BlockContext, 'skewed'>,
  formats: MatrixFormats | undefined,
): GraphRecorder {
  const { precision } = parts;
  if (roundsActivations && (!isGpuVariant(variant) || precision === 'f16')) {
    const message = `activations are rounded in graphs for GPUs of precision q8 or q4 only, not in "${variant}" ones of ${precision}`;
    throw new ModelBuildError('unsupported', message);
  }
  if (variant === 'kernels') return recordKernelsGraph(parts, { formats, onMatrix });
  const graph = new GraphRecorder();
  const { [variant]: plain } = VARIANTS;
  recordDecoderGraph({
    ...parts,
    skewed,
    graph,
    activation: plain.activation,
    variant: roundsActivations ? { ...plain, quantisedInputs: 'rounded to 8 bits' } : plain,
  });
  return graph;
}

/** Mutates: the disk, in `folder`. Throws: as `writeWeights`. */
async function writeGraph(
  folder: string,
  graph: GraphRecorder,
  {
    cudaGraph,
    ...options
  }: Pick<WriteWeightsOptions, 'onBytes' | 'signal'> & {
    /** Has no weights but those of `graph`. */
    readonly cudaGraph: GraphRecorder | undefined;
  },
): Promise<void> {
  const placements = await writeDurably(join(folder, WEIGHTS_FILE), file =>
    writeWeights(graph, file, { fileName: WEIGHTS_FILE, ...options }),
  );
  const write = (name: string, recorded: GraphRecorder) =>
    writeDurably(join(folder, name), file =>
      file.writeFile(encodeModel(recorded, placements, String(BUILDER_VERSION))),
    );
  await write(GRAPH_FILE, graph);
  if (cudaGraph !== undefined) await write(CUDA_GRAPH_FILE, cudaGraph);
}

function toManifest(
  config: DecoderConfig,
  facts: Pick<
    BuildManifest,
    | 'variant'
    | 'cudaGraphFile'
    | 'precision'
    | 'kvType'
    | 'contentHash'
    | 'parameterCount'
    | 'experts'
    | 'weightFormats'
    | 'weightError'
    | 'fileTypes'
    | 'files'
  >,
): BuildManifest {
  const { modelType, layerCount, headCount, kvHeadCount, headSize, hiddenSize, vocabSize, contextLength } =
    config;
  const longRope = longRopeChoice(config);
  const layerCaches = findLayerCaches(facts.variant, config);
  return {
    formatVersion: GRAPH_FORMAT_VERSION,
    modelType,
    graphFile: GRAPH_FILE,
    layerCount,
    headCount,
    kvHeadCount,
    headSize,
    ...(layerCaches && { layerCaches }),
    hiddenSize,
    vocabSize,
    contextLength,
    ...(longRope !== undefined && { longRope }),
    ...facts,
  };
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
