// Which precision `auto` means for a checkpoint: as exact as its size allows, of those that the device has graphs in, or of
// those that another program exported.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type GraphVariant, type Precision, VARIANT_PRECISIONS } from '@ortler/engine/graph-contract';
import { type ExportedFiles, findExports } from '@ortler/model-builder';

const MEBIBYTE = 1024 * 1024;

/** Checkpoints up to this size stay float32, or float16 on a device: they are fast anyway, and small models lose most by rounding. */
const MAX_F32_BYTES = 256 * MEBIBYTE;
/** Checkpoints up to this size get 8 bits, whose loss can hardly be measured. Larger ones get 4. */
const MAX_Q8_BYTES = 4_096 * MEBIBYTE;

/**
 * The precision to build with. A folder that cannot be read counts as small; the builder then says what is wrong, also
 * about a precision that the variant does not have.
 */
export async function choosePrecision(
  wanted: 'auto' | Precision,
  modelDir: string,
  variant: GraphVariant,
): Promise<Precision> {
  if (wanted !== 'auto') return wanted;
  const exports = await findExports(modelDir, variant);
  if (exports !== undefined) return chooseExport(exports, variant);
  const names = await readdir(modelDir).catch(() => []);
  const weights = names.filter(name => name.endsWith('.safetensors'));
  const sizes = await Promise.all(weights.map(async name => (await stat(join(modelDir, name))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes <= MAX_F32_BYTES) return VARIANT_PRECISIONS[variant][0];
  return bytes <= MAX_Q8_BYTES ? 'q8' : 'q4';
}

/** Of exports that are too large for float32: on a GPU, graphs in 8-bit integers have no kernels. */
const EXPORT_ORDER: Readonly<Record<GraphVariant, readonly Precision[]>> = {
  slots: ['q4', 'q8', 'f32'],
  paged: ['q4', 'f16', 'f32', 'q8'],
};

/** Where none can be run, the builder says so. */
function chooseExport({ graphs }: ExportedFiles, variant: GraphVariant): Precision {
  const exact = graphs.get('f32');
  // A number in float32 takes twice as much as in most checkpoints.
  if (exact !== undefined && exact.bytes <= 2 * MAX_F32_BYTES) return 'f32';
  return EXPORT_ORDER[variant].find(precision => graphs.has(precision)) ?? 'f32';
}
