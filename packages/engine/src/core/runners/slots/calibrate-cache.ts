// Calibration of the int8 KV cache: the prefill graph computes tokens that `find-cache-scales.ts` chooses, in the first slot,
// before it is used.

import type { OrtBackend, OrtSession, OrtTensor } from '@ortler/onnxruntime';
import { KV_PARTS, scaledName } from '../../../graph-contract.ts';
import { BatchInputs } from '../conventions/lengths-convention.ts';
import { type CacheChannels, findCacheScales } from './find-cache-scales.ts';
import type { Int8Cache } from './int8-cache.ts';
import type { KvStore } from './slot-store.ts';

export interface Calibration {
  readonly backend: OrtBackend;
  readonly prefill: OrtSession;
  readonly store: KvStore;
  readonly int8Cache: Int8Cache;
  readonly model: CacheChannels & { readonly vocabSize: number };
  readonly contextLength: number;
}

/** Mutates: the scales of `int8Cache`, the first slot of `store`. Throws: `model_invalid` for a graph that does not fit. */
export async function calibrateCache(calibration: Calibration): Promise<void> {
  const { int8Cache, model, contextLength } = calibration;
  const sizes = { vocabSize: model.vocabSize, contextLength };
  await findCacheScales(int8Cache.scales, model, sizes, tokenIds => computeScaled(calibration, tokenIds));
}

/** New keys and values over their scales. Shape of each row: `[tokens, kvHeadCount * headSize]`. */
async function computeScaled(
  { backend, prefill, store, int8Cache, model }: Calibration,
  tokenIds: Int32Array,
): Promise<readonly Float32Array[]> {
  const { length } = tokenIds;
  const width = model.kvHeadCount * model.headSize;
  const rows: Float32Array[] = [];
  const scaled = new Map<string, OrtTensor>();
  for (let layer = 0; layer < model.layerCount; layer++)
    for (const part of KV_PARTS) {
      const row = new Float32Array(length * width);
      rows.push(row);
      scaled.set(scaledName(layer, part), backend.createTensor('float32', [1, length, width], row));
    }
  const inputs = new BatchInputs(backend, { batchSize: 1, length, logitsPerRow: 0 });
  const cache = store.view(0, 1);
  const dequantised = int8Cache.dequantise(prefill, int8Cache.span(length));
  const binding = prefill.bind(
    new Map([...inputs.tensors, ...cache.inputs, ...dequantised.inputs]),
    new Map([...cache.outputs, ...dequantised.outputs, ...scaled]),
  );
  try {
    inputs.fillOne({ slot: 0, tokenIds, computedLength: 0, logitsCount: 0 });
    await binding.run();
    return rows;
  } finally {
    binding.dispose();
    dequantised.dispose();
    inputs.dispose();
    for (const tensor of scaled.values()) tensor.dispose();
  }
}
