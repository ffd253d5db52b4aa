// Folders in the layout of Optimum and transformers.js: config.json and tokenizer files, and graphs in `onnx/`, each
// precision in a file of its own. This file knows their names and nothing of what is in them.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { GraphVariant, Precision } from '@ortler/engine/graph-contract';
import { ModelBuildError } from '../errors.ts';

/** Folder of the graphs. */
export const EXPORT_FOLDER = 'onnx';

type GraphFiles = Readonly<Partial<Record<Precision, readonly string[]>>>;

/** The first that exists is taken. */
const PROCESSOR_FILES = {
  f32: ['model.onnx'],
  q8: ['model_q8.onnx', 'model_int8.onnx', 'model_uint8.onnx', 'model_quantized.onnx'],
  q4: ['model_q4.onnx'],
} as const satisfies GraphFiles;

/** On a GPU, graphs whose activations and caches are float16 go before those in float32. */
const DEVICE_FILES = {
  ...PROCESSOR_FILES,
  f16: ['model_fp16.onnx', 'model_f16.onnx'],
  q4: ['model_q4f16.onnx', ...PROCESSOR_FILES.q4],
} as const satisfies GraphFiles;

const GRAPH_FILES: Readonly<Record<GraphVariant, GraphFiles>> = {
  slots: PROCESSOR_FILES,
  paged: DEVICE_FILES,
};

/** What is in a folder that another program exported. */
export interface ExportedFiles {
  /** Graphs that may run there and whose precision is known by their name, relative to `EXPORT_FOLDER`. */
  readonly graphs: ReadonlyMap<Precision, ExportedGraph>;
  /** All names that end in `.onnx`, for messages. */
  readonly names: readonly string[];
}

export interface ExportedGraph {
  readonly name: string;
  /** With its data files. */
  readonly bytes: number;
}

/**
 * Undefined for a folder without graphs, and for one with weights of its own: those are built. `variant` says where the model
 * is to run: `slots` for the processor, `paged` for a GPU. Throws: `source_invalid` for a link to a file that is gone.
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
