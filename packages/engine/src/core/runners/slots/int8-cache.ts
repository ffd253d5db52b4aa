// int8 KV cache: the inputs of calls besides the cache itself. These are its scales and, for prefill, memory in which the keys
// and values of one layer are dequantised.

import type { OrtBackend, OrtSession, OrtTensor } from '@ortler/onnxruntime';
import {
  CACHE_SCALES_INPUT,
  KV_PARTS,
  type KvPart,
  sharedName,
  WIDENED_INPUT,
  widenedName,
} from '../../../graph-contract.ts';
import { type CacheChannels, firstScales } from './find-cache-scales.ts';

/** Dequantised lengths are a multiple of this, so that prepared calls serve more than one length. Unit: tokens. */
const SPAN_STEP = 64;

/** Tensors of one call for a prompt, by graph name. */
export interface DequantisedTensors {
  readonly inputs: ReadonlyMap<string, OrtTensor>;
  readonly outputs: ReadonlyMap<string, OrtTensor>;
  dispose(): void;
}

export class Int8Cache {
  /** Shape: `[2 * layerCount, kvHeadCount * headSize]`. Calls read it in place. */
  readonly scales: Float32Array;
  /** Of every graph, by name. */
  readonly inputs: ReadonlyMap<string, OrtTensor>;
  readonly #backend: OrtBackend;
  readonly #channels: CacheChannels & { readonly capacity: number };
  /** Memory for the dequantised keys and values of a layer, by part. Beyond the longest call it is not touched. */
  readonly #dequantised: Readonly<Record<KvPart, Float32Array>>;

  constructor(backend: OrtBackend, channels: CacheChannels & { readonly capacity: number }) {
    const { layerCount, kvHeadCount, headSize, capacity } = channels;
    this.#backend = backend;
    this.#channels = channels;
    this.scales = firstScales(channels);
    const shape = [2 * layerCount, kvHeadCount * headSize];
    this.inputs = new Map([[CACHE_SCALES_INPUT, backend.createTensor('float32', shape, this.scales)]]);
    const length = kvHeadCount * capacity * headSize;
    this.#dequantised = { key: new Float32Array(length), value: new Float32Array(length) };
  }

  /** How many positions a call dequantises after which a sequence has `total` tokens. */
  span(total: number): number {
    return Math.min(this.#channels.capacity, Math.ceil(total / SPAN_STEP) * SPAN_STEP);
  }

  /** Inputs and outputs of a call of `prefill` over that many positions, besides the cache. */
  dequantise(prefill: OrtSession, span: number): DequantisedTensors {
    const { kvHeadCount, headSize, layerCount } = this.#channels;
    const length = this.#backend.createTensor('int64', [1], BigInt64Array.of(BigInt(span)));
    const made = [length];
    const outputs = new Map<string, OrtTensor>();
    for (const part of KV_PARTS) {
      const data = this.#dequantised[part].subarray(0, kvHeadCount * span * headSize);
      const tensor = this.#backend.createTensor('float32', [1, kvHeadCount, span, headSize], data);
      made.push(tensor);
      for (let layer = 0; layer < layerCount; layer++)
        for (const name of [widenedName(layer, part), sharedName(layer, part)])
          if (prefill.outputNames.includes(name)) outputs.set(name, tensor);
    }
    return {
      inputs: new Map([[WIDENED_INPUT.length, length], ...this.inputs]),
      outputs,
      dispose() {
        for (const tensor of made) tensor.dispose();
      },
    };
  }

  dispose(): void {
    for (const tensor of this.inputs.values()) tensor.dispose();
  }
}
