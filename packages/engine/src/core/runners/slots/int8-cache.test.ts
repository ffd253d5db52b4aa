import type { OrtBackend, OrtSession, OrtTensor } from '@ortler/onnxruntime';
import { describe, expect, it } from 'vitest';
import { Int8Cache } from './int8-cache.ts';

const CHANNELS = { layerCount: 3, kvHeadCount: 2, headSize: 4, capacity: 200 };

function createBackend() {
  const state = { liveCount: 0 };
  const backend: Pick<OrtBackend, 'createTensor'> = {
    createTensor(type, shape, data): OrtTensor {
      state.liveCount++;
      const dispose = () => {
        state.liveCount--;
      };
      return { device: 'cpu', type, shape, data, dispose };
    },
  };
  return { backend: backend as OrtBackend, state };
}

/** A graph whose last layer dequantises nothing. */
const PREFILL = {
  outputNames: [0, 1].flatMap(layer =>
    ['key', 'value'].flatMap(part => [`widened.${layer}.${part}`, `shared.${layer}.${part}`]),
  ),
} as unknown as OrtSession;

describe('Int8Cache', () => {
  it('dequantises whole steps of 64 positions, and never more than the cache has', () => {
    const int8Cache = new Int8Cache(createBackend().backend, CHANNELS);
    expect([1, 64, 65, 128, 193, 200].map(total => int8Cache.span(total))).toEqual([
      64, 64, 128, 128, 200, 200,
    ]);
  });

  it('passes one memory for keys and one for values, to all layers that dequantise', () => {
    const int8Cache = new Int8Cache(createBackend().backend, CHANNELS);
    const { inputs, outputs } = int8Cache.dequantise(PREFILL, 128);
    expect([...outputs.keys()].toSorted()).toEqual([...PREFILL.outputNames].toSorted());
    const [keys, values] = [outputs.get('widened.0.key')!, outputs.get('widened.0.value')!];
    expect(keys.shape).toEqual([1, 2, 128, 4]);
    for (const name of ['shared.0', 'widened.1', 'shared.1']) {
      expect(outputs.get(`${name}.key`)).toBe(keys);
      expect(outputs.get(`${name}.value`)).toBe(values);
    }
    expect(keys.data.buffer).not.toBe(values.data.buffer);
    expect(inputs.get('widened_length')!.data).toEqual(BigInt64Array.of(128n));
    expect(inputs.get('cache_scales')!.data).toBe(int8Cache.scales);
  });

  it('frees what a call had with the call, and the rest at the end', () => {
    const { backend, state } = createBackend();
    const int8Cache = new Int8Cache(backend, CHANNELS);
    const before = state.liveCount;
    const call = int8Cache.dequantise(PREFILL, 64);
    call.dispose();
    expect(state.liveCount).toBe(before);
    int8Cache.dispose();
    expect(state.liveCount).toBe(0);
  });
});
