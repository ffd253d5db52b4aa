// Refuses folders with quantised layers whose config.json does not say how they are packed.

import { ModelBuildError } from '../errors.ts';
import type { Checkpoint } from '../hugging-face/checkpoint.ts';

const MARKERS = /\.(qweight|weight_packed|weight_scale|weight_scale_inv)$/;

/** Throws: `unsupported`. */
export function refuseUndeclared(checkpoint: Checkpoint, configFile: string): void {
  const name = checkpoint.names.find(candidate => MARKERS.test(candidate));
  if (name === undefined) return;
  const key = 'quantization_config';
  const message = `${configFile}, key ${key}: is missing, but tensor ${JSON.stringify(name)} belongs to a quantised layer; older programs wrote the section to quantize_config.json or quant_config.json, without quant_method`;
  throw new ModelBuildError('unsupported', message, { file: configFile, key, tensor: name });
}
