// What config.json says of Mamba-2, in the keys that families share.

import type { Mamba2, RecurrentModules } from '../hugging-face/decoder-config.ts';
import type { ConfigReader } from './architecture.ts';
import type { ConfigKeys } from './config-keys.ts';
import { kernelLength, vectorSize } from './layer-kinds.ts';

/** Source: `MAX_STATE_SIZE` of `packages/kernels/c/mamba.h`. */
export const LARGEST_STATE_SIZE = 256;

/** Names within a layer, after the name of the module. */
export function mambaModules(module: string): RecurrentModules {
  return {
    gateInputDecay: `${module}.in_proj`,
    input: '',
    gate: '',
    beta: '',
    decay: '',
    convolution: `${module}.conv1d`,
    decayLog: `${module}.A_log`,
    decayBias: `${module}.dt_bias`,
    skip: `${module}.D`,
    norm: `${module}.norm`,
    output: `${module}.out_proj`,
  };
}

/** The keys that begin with `mamba_`, with which `width` is the product of heads and their size. Throws: `config_invalid`, `unsupported`. */
export function readMamba(
  keys: ConfigKeys,
  reader: ConfigReader,
  { width, norm }: { readonly width: number; readonly norm: Mamba2['norm'] },
): Mamba2 {
  const headCount = keys.mamba_n_heads!;
  if (width % headCount !== 0)
    reader.invalid('mamba_n_heads', `is ${headCount}; it must divide the width of the layer, ${width}`);
  const headSize = typeof keys.mamba_d_head === 'number' ? keys.mamba_d_head : width / headCount;
  if (headSize * headCount !== width)
    reader.invalid('mamba_d_head', `is ${headSize}; ${headCount} heads of the layer have ${width} elements`);
  refuseStepLimits(keys, reader);
  return {
    kind: 'mamba-2',
    headCount,
    headSize: vectorSize('mamba_d_head', headSize, reader),
    groupCount: groupsOf('mamba_n_groups', keys.mamba_n_groups!, headCount, reader),
    stateSize: vectorSize('mamba_d_state', keys.mamba_d_state!, reader, LARGEST_STATE_SIZE),
    kernel: kernelLength('mamba_d_conv', keys.mamba_d_conv!, reader),
    hasConvolutionBias: keys.mamba_conv_bias!,
    hasBias: keys.mamba_proj_bias!,
    leastStep: 0,
    norm,
    inputScales: { values: 1, keys: 1, queries: 1 },
  };
}

/** Throws: `config_invalid`. */
export function groupsOf(key: string, groups: number, headCount: number, reader: ConfigReader): number {
  if (headCount % groups !== 0) reader.invalid(key, `is ${groups}; it must divide the heads, ${headCount}`);
  return groups;
}

/** Throws: `unsupported`. Transformers keeps limits in prompts only, so a token would depend on how it was computed. */
export function refuseStepLimits({ time_step_limit: limit }: ConfigKeys, reader: ConfigReader): void {
  if (limit === undefined || limit === null) return;
  const [min, max] = limit;
  const isInfinite = typeof max === 'object' && max.__float__ === 'Infinity';
  if (limit.length !== 2 || min !== 0 || !isInfinite)
    reader.refuse('time_step_limit', 'must be absent or 0 and Infinity');
}
