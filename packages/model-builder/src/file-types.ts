// Which types of a quantised file a build in `file` keeps the values of, for its manifest.

import { WEIGHT_FORMATS } from '@ortler/kernels';
import type { DecoderConfig } from './hugging-face/decoder-config.ts';
import type { DecoderWeights } from './hugging-face/decoder-weights.ts';
import type { MatrixFormats } from './kernels/choose-formats.ts';
import { decoderMatrices } from './kernels/decoder-matrices.ts';
import { movableCodes } from './weights/move-codes.ts';

/** Types of the matrices that are not in floats. A type may be in both lists, where matrices that are one in the build differ. */
export interface FileTypes {
  /** Their values are those of the file. */
  readonly kept: readonly string[];
  /** Their values are rounded to 8 bits in blocks of 32. */
  readonly rounded: readonly string[];
}

/** `formats`: of the CPU kernels; undefined with ONNX Runtime's operators. Undefined for a file in floats. */
export function fileTypes(
  weights: DecoderWeights,
  config: DecoderConfig,
  formats: MatrixFormats | undefined,
): FileTypes | undefined {
  const kept = new Set<string>();
  const rounded = new Set<string>();
  for (const { name, tensors } of decoderMatrices(config)) {
    const format = formats?.get(name);
    for (const tensor of tensors(weights)) {
      const { quantised } = tensor;
      if (quantised === undefined) continue;
      const isKept =
        format === undefined
          ? quantised.codes !== undefined && !WEIGHT_FORMATS[quantised.codes.format].hasMinimum
          : format === 'f32' || movableCodes(tensor, format) !== undefined;
      (isKept ? kept : rounded).add(quantised.type);
    }
  }
  if (kept.size + rounded.size === 0) return undefined;
  return { kept: [...kept].toSorted(), rounded: [...rounded].toSorted() };
}
