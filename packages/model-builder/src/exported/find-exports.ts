// Finds ONNX exports in the layout of Optimum and transformers.js: config.json and tokenizer files, and one graph file per
// precision in `onnx/`. It looks at file names only.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GraphVariant, Precision } from '@ortler/engine/graph-contract';
import { ModelBuildError } from '../errors.ts';

/** Folder of the graphs. */
export const EXPORT_FOLDER = 'onnx';

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
};

/** The graphs of an exported folder. */
export interface ExportedFiles {
  /** Graphs for the device whose name tells the precision, relative to `EXPORT_FOLDER`. */
  readonly graphs: ReadonlyMap<Precision, ExportedGraph>;
  /** All names that end in `.onnx`, for messages. */
  readonly names: readonly string[];
}

export interface ExportedGraph {
  readonly name: string;
  /** Size including its data files. */
  readonly bytes: number;
}

/**
 * Undefined for a folder without graphs, and for one with safetensors, which is built instead. `variant` is the device that the
 * model will run on: `paged` for a GPU, the others for the CPU. Throws: `source_invalid` for a dangling link.
 */
export async function findExports(
  sourceDir: string,
  variant: GraphVariant,
): Promise<ExportedFiles | undefined> {
  const beside = await readdir(sourceDir).catch(() => []);
  if (beside.some(name => name.endsWith('.safetensors'))) return undefined;
  const files = await readdir(join(sourceDir, EXPORT_FOLDER)).catch(() => []);
  const names = files.filter(name => name.endsWith('.onnx')).toSorted();
  if (names.length === 0) return undefined;
  const graphs = new Map<Precision, ExportedGraph>();
  for (const [precision, candidates] of Object.entries(GRAPH_FILES[variant])) {
    const name = candidates.find(candidate => names.includes(candidate));
    if (name === undefined) continue;
    const own = files.filter(file => file.startsWith(name));
    const sizes = await Promise.all(own.map(file => sizeOf(join(sourceDir, EXPORT_FOLDER, file))));
    graphs.set(precision as Precision, { name, bytes: sizes.reduce((sum, size) => sum + size, 0) });
  }
  return { graphs, names };
}

async function sizeOf(file: string): Promise<number> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new ModelBuildError('source_invalid', `${file} is missing or cannot be read`, { file, cause });
  });
  return size;
}
