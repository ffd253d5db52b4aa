// What calls of graphs with an 8-bit cache need besides the cache: its scales, and for prompts memory in which the codes of
// one layer are widened to numbers.

import type { OrtBackend, OrtSession, OrtTensor } from '@ortler/onnxruntime';
import {
  CACHE_SCALES_INPUT,
  type KvPart,
  sharedName,
  WIDENED_INPUT,
  widenedName,
} from '../../../graph-contract.ts';
import { type CacheChannels, firstScales, KV_PARTS } from './find-cache-scales.ts';

/** Places that are widened are a multiple of this, so that calls are kept for more than one length. Unit: tokens. */
const SPAN_STEP = 64;

/** Tensors of one call for a prompt, by graph name. */
export interface WidenedTensors {
  readonly inputs: ReadonlyMap<string, OrtTensor>;
  readonly outputs: ReadonlyMap<string, OrtTensor>;
  dispose(): void;
}

export class CacheCodes {
  /** Shape: `[2 * layerCount, kvHeadCount * headSize]`. Calls read it in place. */
  readonly scales: Float32Array;
  /** Of every graph, by name. */
  readonly inputs: ReadonlyMap<string, OrtTensor>;
  readonly #backend: OrtBackend;
  readonly #channels: CacheChannels & { readonly capacity: number };
  /** Where keys and values of a layer are widened, by part. Memory beyond the longest call is not touched. */
  readonly #numbers: Readonly<Record<KvPart, Float32Array>>;

  constructor(backend: OrtBackend, channels: CacheChannels & { readonly capacity: number }) {
    const { layerCount, kvHeadCount, headSize, capacity } = channels;
    this.#backend = backend;
    this.#channels = channels;
    this.scales = firstScales(channels);
    const shape = [2 * layerCount, kvHeadCount * headSize];
    this.inputs = new Map([[CACHE_SCALES_INPUT, backend.createTensor('float32', shape, this.scales)]]);
    const length = kvHeadCount * capacity * headSize;
    this.#numbers = { key: new Float32Array(length), value: new Float32Array(length) };
  }

  /** How many places a call widens after which a sequence has `total` tokens. */
  span(total: number): number {
    return Math.min(this.#channels.capacity, Math.ceil(total / SPAN_STEP) * SPAN_STEP);
  }

  /** What a call of `prefill` over that many places takes besides the cache. */
  widen(prefill: OrtSession, span: number): WidenedTensors {
    const { kvHeadCount, headSize, layerCount } = this.#channels;
    const length = this.#backend.createTensor('int64', [1], BigInt64Array.of(BigInt(span)));
    const made = [length];
    const outputs = new Map<string, OrtTensor>();
    for (const part of KV_PARTS) {
      const data = this.#numbers[part].subarray(0, kvHeadCount * span * headSize);
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
