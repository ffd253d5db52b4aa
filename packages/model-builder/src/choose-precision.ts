// Resolves the precision `auto` of a checkpoint by its size, among the precisions that the device has graphs for, or among
// the files of an ONNX export, and says why. Quantised checkpoints keep their values.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type GraphVariant,
  isGpuVariant,
  type Precision,
  VARIANT_PRECISIONS,
} from '@ortler/engine/graph-contract';
import { listGgufFiles } from '@ortler/gguf';
import { findExports } from './exported/find-exports.ts';
import { explainKeptValues } from './gguf/explain-kept-values.ts';
import { findGguf } from './gguf/find-gguf.ts';
import { explainQuantisation } from './quantised-checkpoint/explain-quantisation.ts';

const MEBIBYTE = 1024 * 1024;

/** Checkpoints up to this size stay float32, or float16 on a GPU: they are fast anyway, and lose most by quantisation. */
const MAX_F32_BYTES = 256 * MEBIBYTE;
/** Checkpoints up to this size are quantised to 8 bits, whose loss is hardly measurable. Larger ones to 4 bits. */
const MAX_Q8_BYTES = 4_096 * MEBIBYTE;

/** The precision to build with. */
export interface PrecisionChoice {
  readonly precision: Precision;
  /** Why `auto` chose it, for people: continues "q8, because". Undefined when the caller chose. */
  readonly reason: string | undefined;
}

/** A precision that `auto` chose. */
export interface AutoPrecision extends PrecisionChoice {
  readonly reason: string;
}

/**
 * The precision to build with. A folder that cannot be read counts as small, because the builder reports the fault, as it
 * does for a precision that the variant does not have.
 */
export async function explainPrecision(
  wanted: 'auto' | Precision,
  modelDir: string,
  variant: GraphVariant,
  adapterDir?: string,
): Promise<PrecisionChoice> {
  if (wanted !== 'auto') return { precision: wanted, reason: undefined };
  const exports = await findExports(modelDir, variant);
  if (exports !== undefined) {
    const precision = chooseExport(exports.graphs, variant);
    return { precision, reason: `the export has files in ${[...exports.graphs.keys()].join(', ')}` };
  }
  const gguf = await findGguf(modelDir).catch(() => undefined);
  const kept = await explainQuantised(gguf, modelDir, variant);
  if (kept !== undefined) {
    const merged =
      adapterDir === undefined ? '' : '; matrices that the adapter changes are rounded to 8 bits';
    return { precision: 'file', reason: `${kept}${merged}` };
  }
  const weights = gguf === undefined ? await listSafetensors(modelDir) : listGgufFiles(gguf);
  const sizes = await Promise.all(weights.map(sizeOf));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const exact = VARIANT_PRECISIONS[variant][0];
  const limits = `up to ${MAX_F32_BYTES / MEBIBYTE} MiB stay ${exact}, up to ${MAX_Q8_BYTES / 1024 / MEBIBYTE} GiB become q8, larger ones q4`;
  const reason = `the checkpoint has ${Math.ceil(bytes / MEBIBYTE)} MiB: ${limits}`;
  if (bytes <= MAX_F32_BYTES) return { precision: exact, reason };
  return { precision: bytes <= MAX_Q8_BYTES ? 'q8' : 'q4', reason };
}

/** Undefined for checkpoints in floats, and for GPUs, whose builds keep no values. */
async function explainQuantised(
  gguf: string | undefined,
  modelDir: string,
  variant: GraphVariant,
): Promise<string | undefined> {
  if (isGpuVariant(variant)) return undefined;
  return gguf === undefined ? explainQuantisation(modelDir) : explainKeptValues(gguf, variant);
}

/** The precision of `explainPrecision`. */
export async function choosePrecision(
  wanted: 'auto' | Precision,
  modelDir: string,
  variant: GraphVariant,
): Promise<Precision> {
  return (await explainPrecision(wanted, modelDir, variant)).precision;
}

async function listSafetensors(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter(name => name.endsWith('.safetensors')).map(name => join(folder, name));
}

async function sizeOf(path: string): Promise<number> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.size ?? 0;
}

const CPU_EXPORT_ORDER: readonly Precision[] = ['q4', 'q8', 'f32'];

/** On a GPU, W8A8 graphs have no kernels, so q8 is the last. */
const GPU_EXPORT_ORDER: readonly Precision[] = ['q4', 'f16', 'f32', 'q8'];

/** Preference among exports that are too large for float32. */
const EXPORT_ORDER: Readonly<Record<GraphVariant, readonly Precision[]>> = {
  kernels: CPU_EXPORT_ORDER,
  slots: CPU_EXPORT_ORDER,
  paged: GPU_EXPORT_ORDER,
  'device-slots': GPU_EXPORT_ORDER,
};

/** What `auto` takes of an export. Falls back to one that cannot be run, or to `f32`, where none can; the builder then reports that. */
export function chooseExport(
  graphs: ReadonlyMap<Precision, { readonly bytes: number }>,
  variant: GraphVariant,
): Precision {
  const exact = graphs.get('f32');
  // Most checkpoints are in 16 bits, so the same model takes twice as many bytes in float32.
  if (exact !== undefined && exact.bytes <= 2 * MAX_F32_BYTES) return 'f32';
  const usable = EXPORT_ORDER[variant].find(precision => graphs.has(precision));
  return usable ?? [...graphs.keys()][0] ?? 'f32';
}
