// Finds the quantised layers of a checkpoint by their tensors, and opens each with the reader of its packing.

import type { Checkpoint } from '../hugging-face/checkpoint.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { RecentMatrices } from '../hugging-face/recent-matrices.ts';
import { openAwq } from './awq.ts';
import { openFloat8 } from './float8.ts';
import { openGptq } from './gptq.ts';
import { integerTensor } from './integer-matrix.ts';
import { openPackedIntegers } from './packed-integers.ts';
import { openPlainIntegers } from './plain-integers.ts';
import type { LayerQuantisation } from './quantisation-config.ts';
import { StoredModule } from './stored-module.ts';

/** The tensor that every quantised layer of a packing has, and no other. */
const MARKERS: Readonly<Record<LayerQuantisation['method'], readonly string[]>> = {
  gptq: ['qweight'],
  awq: ['qweight'],
  'compressed-tensors': ['weight_packed', 'weight'],
  fp8: ['weight'],
};

/** Types of `weight` in layers that are not floats. */
const PACKED_TYPES = ['I8', 'F8_E4M3'];

/** All layers of a checkpoint that are quantised. */
export function findLayers(checkpoint: Checkpoint, { method }: LayerQuantisation): StoredModule[] {
  return checkpoint.names.flatMap(name => {
    const dot = name.lastIndexOf('.');
    const part = name.slice(dot + 1);
    if (!MARKERS[method].includes(part)) return [];
    if (part === 'weight' && !PACKED_TYPES.includes(checkpoint.entry(name)!.entry.type)) return [];
    return [new StoredModule(checkpoint, name.slice(0, dot))];
  });
}

/** The matrix of a layer under its name in floats. Throws: `tensor_missing`, `tensor_mismatch`, `unsupported`, `weights_corrupt`. */
export async function openLayer(
  module: StoredModule,
  config: LayerQuantisation,
  recent: RecentMatrices,
): Promise<CheckpointTensor> {
  const name = `${module.name}.weight`;
  switch (config.method) {
    case 'gptq':
      return integerTensor(name, await openGptq(module, config, recent));
    case 'awq':
      return integerTensor(name, await openAwq(module, config, recent));
    case 'compressed-tensors': {
      if (module.has('weight_packed')) return integerTensor(name, await openPackedIntegers(module, config));
      if (module.tensor('weight').type === 'F8_E4M3') return openFloat8(module, config.floats);
      return integerTensor(name, await openPlainIntegers(module, config));
    }
    case 'fp8':
      return openFloat8(module, config.floats);
  }
}
