// The layers of a quantised folder by the headers of their tensors alone: one matrix for all tensors of a layer.

import { BLOCK_INPUTS, type WeightFormat } from '@ortler/kernels';
import { FITTED } from '../kernels/common-format.ts';
import type { QuantisationConfig } from '../quantised-checkpoint/quantisation-config.ts';
import { LAYER_PARTS } from '../quantised-checkpoint/quantised-checkpoint.ts';
import { type DescribedTensor, roleOf } from './model-description.ts';

/** Parts of a layer by their names. */
type Parts = ReadonlyMap<string, DescribedTensor>;

interface Layer {
  readonly type: string;
  readonly shape: readonly number[];
  /** Format in a build that keeps values, as far as config.json says. */
  readonly format: WeightFormat;
}

/** Matrices in floats are rounded by builds that keep values. */
export function describeLayers(
  tensors: readonly DescribedTensor[],
  config: QuantisationConfig,
): readonly DescribedTensor[] {
  const modules = new Map<string, Map<string, DescribedTensor>>();
  for (const tensor of tensors) {
    const dot = tensor.name.lastIndexOf('.');
    const [module, part] = [tensor.name.slice(0, dot), tensor.name.slice(dot + 1)];
    if (LAYER_PARTS.includes(part)) modules.set(module, (modules.get(module) ?? new Map()).set(part, tensor));
  }
  const joined = new Set<DescribedTensor>();
  const layers: DescribedTensor[] = [];
  for (const [module, parts] of modules) {
    const layer = layerOf(parts, config);
    if (layer === undefined) continue;
    const name = `${module}.weight`;
    const bytes = parts.values().reduce((sum, part) => sum + part.bytes, 0);
    for (const part of parts.values()) joined.add(part);
    const { type, shape, format } = layer;
    layers.push({ name, role: roleOf(name, shape), type, shape, bytes, keptFormat: format });
  }
  for (const blocks of tensors.filter(({ name }) => name.endsWith('_blocks'))) {
    const stem = blocks.name.slice(0, -'_blocks'.length);
    const scales = tensors.find(({ name }) => name === `${stem}_scales`);
    const [experts = 0, outputs = 0, width = 0] = blocks.shape;
    const shape = [experts, outputs, width * BLOCK_INPUTS];
    for (const part of [blocks, scales]) if (part !== undefined) joined.add(part);
    const bytes = blocks.bytes + (scales?.bytes ?? 0);
    layers.push({ name: `${stem}.weight`, role: 'experts', type: 'MXFP4', shape, bytes, keptFormat: 'q5' });
  }
  const others = tensors.filter(tensor => !joined.has(tensor));
  return [
    ...layers,
    ...others.map(tensor => (tensor.role === 'vectors' ? tensor : { ...tensor, keptFormat: FITTED })),
  ];
}

/** Undefined for a module in floats. */
function layerOf(parts: Parts, config: QuantisationConfig): Layer | undefined {
  const [qweight, packed, weight] = ['qweight', 'weight_packed', 'weight'].map(part => parts.get(part));
  if (config.method === 'awq' && qweight !== undefined) {
    const [inputs = 0, words = 0] = qweight.shape;
    return { type: 'AWQ 4-bit', shape: [8 * words, inputs], format: 'q5' };
  }
  if (config.method === 'gptq' && qweight !== undefined) {
    const [lines = 0, outputs = 0] = qweight.shape;
    const words = parts.get('qzeros')?.shape[1] ?? 0;
    const bits = 32 * words < 6 * outputs ? 4 : 8;
    const format = integerFormat(bits, config.isSymmetric, config.isOrdered);
    return { type: `GPTQ ${bits}-bit`, shape: [outputs, (32 / bits) * lines], format };
  }
  if (config.method === 'compressed-tensors' && packed !== undefined) {
    const { bits, isSymmetric } = config.integers[0] ?? { bits: 4, isSymmetric: true };
    const [outputs = 0, words = 0] = packed.shape;
    const format = integerFormat(bits, isSymmetric, parts.has('weight_g_idx'));
    return { type: `compressed-tensors INT${bits}`, shape: [outputs, (32 / bits) * words], format };
  }
  if (config.method === 'compressed-tensors' && weight?.type === 'I8')
    return { type: 'compressed-tensors INT8', shape: weight.shape, format: 'q8' };
  if (weight?.type === 'F8_E4M3') return { type: 'FP8', shape: weight.shape, format: FITTED };
  return undefined;
}

function integerFormat(bits: number, isSymmetric: boolean, isOrdered: boolean): WeightFormat {
  if (isOrdered || bits !== 4) return FITTED;
  return isSymmetric ? 'q4' : 'q5';
}
