// Finds ONNX exports of other programs. In the layout of Optimum and transformers.js there are config.json and tokenizer files,
// and in `onnx/` one graph file for each precision, whose name tells it. In the layout of onnxruntime-genai there is one graph
// for each folder, which genai_config.json names and whose operators tell the precision.

import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { GraphVariant, Precision } from '@ortler/engine/graph-contract';
import { ModelBuildError } from '../errors.ts';
import type { ExportLayout } from './export-settings.ts';
import { readGenaiConfig } from './genai-config.ts';
import { findGenaiFolder } from './genai-folders.ts';
import { precisionOf } from './graph-precision.ts';
import { readExportedGraph } from './read-exported-graph.ts';

/** Folder of Optimum's graphs. */
export const OPTIMUM_FOLDER = 'onnx';

type GraphFiles = Readonly<Partial<Record<Precision, readonly string[]>>>;

/** Graph files for the CPU; the first existing one of each precision is used. */
const CPU_FILES = {
  f32: ['model.onnx'],
  q8: ['model_q8.onnx', 'model_int8.onnx', 'model_uint8.onnx', 'model_quantized.onnx'],
  q4: ['model_q4.onnx'],
} as const satisfies GraphFiles;

/** Graph files for a GPU; those with float16 activations and caches come before float32. */
const GPU_FILES = {
  ...CPU_FILES,
  f16: ['model_fp16.onnx', 'model_f16.onnx'],
  q4: ['model_q4f16.onnx', ...CPU_FILES.q4],
} as const satisfies GraphFiles;

const GRAPH_FILES: Readonly<Record<GraphVariant, GraphFiles>> = {
  kernels: CPU_FILES,
  slots: CPU_FILES,
  paged: GPU_FILES,
  'device-slots': GPU_FILES,
};

/** The graphs of an exported folder. */
export interface ExportedFiles {
  readonly layout: ExportLayout;
  /** Folder of settings and tokenizer: the given one or, in the layout of onnxruntime-genai, one below it. */
  readonly folder: string;
  /** Folder of the graphs, relative to `folder`; may be empty. */
  readonly graphFolder: string;
  /** Graphs for the device, relative to `graphFolder`. */
  readonly graphs: ReadonlyMap<Precision, ExportedGraph>;
  /** All graphs in `graphFolder`, for messages. */
  readonly names: readonly string[];
}

export interface ExportedGraph {
  readonly name: string;
  /** Size including its data files. */
  readonly bytes: number;
}

/**
 * Undefined for a folder without graphs, and for one with safetensors, which is built instead. `variant` is the device that the
 * model will run on: `paged` for a GPU, the others for the CPU.
 *
 * Throws: `source_invalid` for a dangling link; in the layout of onnxruntime-genai also `config_invalid` and `unsupported`.
 */
export async function findExports(
  sourceDir: string,
  variant: GraphVariant,
): Promise<ExportedFiles | undefined> {
  const beside = await readdir(sourceDir).catch(() => []);
  if (beside.some(name => name.endsWith('.safetensors'))) return undefined;
  const optimum = await findOptimumGraphs(sourceDir, variant);
  if (optimum !== undefined) return optimum;
  const folder = await findGenaiFolder(sourceDir, variant);
  return folder === undefined ? undefined : findGenaiGraph(folder);
}

async function findOptimumGraphs(folder: string, variant: GraphVariant): Promise<ExportedFiles | undefined> {
  const graphDir = join(folder, OPTIMUM_FOLDER);
  const files = await readdir(graphDir).catch(() => []);
  const names = files.filter(name => name.endsWith('.onnx')).toSorted();
  if (names.length === 0) return undefined;
  const graphs = new Map<Precision, ExportedGraph>();
  for (const [precision, name] of graphsByPrecision(names, variant))
    graphs.set(precision, { name, bytes: await graphBytes(graphDir, files, name) });
  return { layout: 'optimum', folder, graphFolder: OPTIMUM_FOLDER, graphs, names };
}

/** The graph of each precision for the device, among the names of a folder in the layout of Optimum. */
export function graphsByPrecision(
  names: readonly string[],
  variant: GraphVariant,
): ReadonlyMap<Precision, string> {
  const graphs = new Map<Precision, string>();
  for (const [precision, candidates] of Object.entries(GRAPH_FILES[variant])) {
    const name = candidates.find(candidate => names.includes(candidate));
    if (name !== undefined) graphs.set(precision as Precision, name);
  }
  return graphs;
}

async function findGenaiGraph(folder: string): Promise<ExportedFiles> {
  const { filename } = (await readGenaiConfig(folder)).model.decoder;
  const graphFolder = dirname(filename) === '.' ? '' : dirname(filename);
  const graphDir = join(folder, graphFolder);
  const name = basename(filename);
  const precision = precisionOf(readExportedGraph(join(graphDir, name)));
  const files = await readdir(graphDir);
  const graph: ExportedGraph = { name, bytes: await graphBytes(graphDir, files, name) };
  return { layout: 'genai', folder, graphFolder, graphs: new Map([[precision, graph]]), names: [name] };
}

/** The graph and its data files, which begin with its name: `model_q4.onnx`, `model_q4.onnx_data`, `model_q4.onnx.data`. */
export function filesOfGraph(files: readonly string[], name: string): readonly string[] {
  return files.filter(file => file.startsWith(name));
}

/** Bytes of the graph and its data files. */
async function graphBytes(graphDir: string, files: readonly string[], name: string): Promise<number> {
  const own = filesOfGraph(files, name);
  const sizes = await Promise.all(own.map(file => sizeOf(join(graphDir, file))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function sizeOf(file: string): Promise<number> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new ModelBuildError('source_invalid', `${file} is missing or cannot be read`, { file, cause });
  });
  return size;
}
