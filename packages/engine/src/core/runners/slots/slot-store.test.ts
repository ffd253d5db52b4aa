import type { ElementArray, ElementType, OrtBackend, OrtTensor } from '@ortler/onnxruntime';
import { describe, expect, it } from 'vitest';
import { pastName, presentName } from '../../../graph-contract/index.ts';
import { type KvShape, KvStore } from './slot-store.ts';

const LAYER = { kvHeadCount: 2, rowLength: 4 };
const SHAPE = {
  layers: [LAYER, LAYER],
  slotCount: 3,
  capacity: 5,
  groupLength: 1,
  type: 'float32',
} as const satisfies KvShape;
const SLOT_LENGTH = LAYER.kvHeadCount * SHAPE.capacity * LAYER.rowLength;

/** Tensors that count how many of them live. */
class CountingBackend implements OrtBackend {
  readonly name = 'node';
  readonly version = 'none';
  readonly kernels = { missing: 'no session is made' };
  liveCount = 0;

  createSession(): never {
    throw new Error('not used');
  }

  createTensor(type: ElementType, shape: readonly number[], data: ElementArray): OrtTensor {
    this.liveCount++;
    const dispose = (): void => {
      this.liveCount--;
    };
    return { device: 'cpu', type, shape, data, dispose };
  }

  allocateZeros(): never {
    throw new Error('not used');
  }

  copy(): never {
    throw new Error('not used');
  }

  describeDevice(): never {
    throw new Error('not used');
  }
}

function keysOfSlot(store: KvStore, slot: number): Float32Array {
  return store.view(slot, 1).inputs.get(pastName(1, 'key'))!.data as Float32Array;
}

describe('KvStore', () => {
  // No address space has room for it. 2 parts x 2 layers x 3 slots x 2 heads x 4 numbers x 4 bytes are 384 bytes a token.
  const ENDLESS = { ...SHAPE, capacity: 2 ** 50 };

  it('that finds no room says which settings to lower', () => {
    expect(() => new KvStore(new CountingBackend(), ENDLESS)).toThrow(
      /3 slots .*maxSequences.* contextLength 1125899906842624 .* 402653184\.0 GiB, .* lower/,
    );
  });

  it.each([
    ['invalid, as no other try succeeds, where the machine has less', 383 * 2 ** 50, 'model_invalid'],
    ['a failure, as others may have the memory, where it has as much', 384 * 2 ** 50, 'engine_failed'],
  ])('without room is %s', (_case, machineBytes, code) => {
    expect(() => new KvStore(new CountingBackend(), ENDLESS, machineBytes)).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it('has its arrays in buffers so large that the system gives them fresh pages', () => {
    // 18 MiB each.
    const { inputs } = new KvStore(new CountingBackend(), { ...SHAPE, capacity: 3 * 2 ** 16 }).view(0, 1);
    for (const { data } of inputs.values()) expect(data.buffer.byteLength).toBeGreaterThan(2 ** 25);
  });

  it('passes the same tensor as past and present, for every layer and part', () => {
    const { inputs, outputs } = new KvStore(new CountingBackend(), SHAPE).view(0, 2);
    expect([...inputs.keys()]).toEqual(
      [0, 1].flatMap(layer => [pastName(layer, 'key'), pastName(layer, 'value')]),
    );
    for (const layer of [0, 1]) {
      for (const part of ['key', 'value'] as const) {
        const tensor = inputs.get(pastName(layer, part))!;
        expect(tensor).toBe(outputs.get(presentName(layer, part)));
        expect(tensor.shape).toEqual([2, 2, 5, 4]);
      }
    }
  });

  it('has no values for a layer whose keys are its values', () => {
    const store = new KvStore(new CountingBackend(), {
      ...SHAPE,
      layers: [{ ...LAYER, keysOnly: true }, LAYER],
    });
    const { inputs, outputs } = store.view(0, 1);
    expect([...inputs.keys()]).toEqual([pastName(0, 'key'), pastName(1, 'key'), pastName(1, 'value')]);
    expect(outputs.size).toBe(3);
    expect(store.byteLength).toBe((new KvStore(new CountingBackend(), SHAPE).byteLength * 3) / 4);
  });

  it('gives views of the same memory for overlapping slots', () => {
    const store = new KvStore(new CountingBackend(), SHAPE);
    keysOfSlot(store, 1).fill(7);
    const pair = store.view(0, 2).inputs.get(pastName(1, 'key'))!.data as Float32Array;
    expect(pair.subarray(0, SLOT_LENGTH).every(value => value === 0)).toBe(true);
    expect(pair.subarray(SLOT_LENGTH).every(value => value === 7)).toBe(true);
  });

  it('copies the first tokens of every head and leaves the rest of the slot alone', () => {
    const store = new KvStore(new CountingBackend(), SHAPE);
    keysOfSlot(store, 0).forEach((_, index, data) => {
      data[index] = 100 + index;
    });
    keysOfSlot(store, 2).fill(-1);
    store.copySlot(0, 2, 3);
    const headLength = SHAPE.capacity * LAYER.rowLength;
    const copiedLength = 3 * LAYER.rowLength;
    const expected = Array.from({ length: SLOT_LENGTH }, (_, index) =>
      index % headLength < copiedLength ? 100 + index : -1,
    );
    expect([...keysOfSlot(store, 2)]).toEqual(expected);
  });

  it('exchanges the first tokens of every head of two slots and leaves the rest alone', () => {
    const store = new KvStore(new CountingBackend(), SHAPE);
    for (const slot of [0, 1, 2])
      keysOfSlot(store, slot).forEach((_, index, data) => {
        data[index] = 100 * slot + index;
      });
    store.swapSlots(0, 2, 2);
    const headLength = SHAPE.capacity * LAYER.rowLength;
    const expectedOf = (slot: number, other: number) =>
      Array.from({ length: SLOT_LENGTH }, (_, index) =>
        index % headLength < 2 * LAYER.rowLength ? 100 * other + index : 100 * slot + index,
      );
    expect([...keysOfSlot(store, 0)]).toEqual(expectedOf(0, 2));
    expect([...keysOfSlot(store, 1)]).toEqual(expectedOf(1, 1));
    expect([...keysOfSlot(store, 2)]).toEqual(expectedOf(2, 0));
  });

  // A capacity of 20 tokens takes two groups of 16.
  const GROUPED = { ...SHAPE, capacity: 20, groupLength: 16 } as const satisfies KvShape;
  const GROUPED_HEAD = 32 * LAYER.rowLength;

  it.each([
    ['float32', Float32Array],
    ['float16', Uint16Array],
    ['int8', Int8Array],
  ] as const)('has room for whole groups of tokens, in %s', (type, array) => {
    const store = new KvStore(new CountingBackend(), { ...GROUPED, type });
    const tensor = store.view(1, 2).inputs.get(pastName(0, 'value'))!;
    expect(tensor).toMatchObject({ type, shape: [2, 2, 32, 4] });
    expect(tensor.data).toBeInstanceOf(array);
    expect(tensor.data.length).toBe(2 * 2 * GROUPED_HEAD);
  });

  // Tokens of a group lie side by side, so a part of one cannot be copied.
  it.each([
    [1, 16],
    [16, 16],
    [17, 32],
    [20, 32],
  ])('copies %d tokens as whole groups of %d, and nothing after them', (length, copied) => {
    const store = new KvStore(new CountingBackend(), GROUPED);
    for (const slot of [0, 1, 2])
      keysOfSlot(store, slot).forEach((_, index, data) => {
        data[index] = 1000 * slot + index;
      });
    const expectedOf = (slot: number, other: number) =>
      Array.from({ length: 2 * GROUPED_HEAD }, (_, index) =>
        index % GROUPED_HEAD < copied * LAYER.rowLength ? 1000 * other + index : 1000 * slot + index,
      );
    store.swapSlots(1, 2, length);
    expect([...keysOfSlot(store, 1)]).toEqual(expectedOf(1, 2));
    expect([...keysOfSlot(store, 2)]).toEqual(expectedOf(2, 1));
    store.copySlot(1, 0, length);
    expect([...keysOfSlot(store, 0)]).toEqual(expectedOf(0, 2));
    expect([...keysOfSlot(store, 1)]).toEqual(expectedOf(1, 2));
  });

  it('makes each view once and frees every tensor at the end', () => {
    const backend = new CountingBackend();
    const store = new KvStore(backend, SHAPE);
    expect(store.view(1, 2)).toBe(store.view(1, 2));
    store.view(0, 1);
    expect(backend.liveCount).toBe(8);
    store.dispose();
    expect(backend.liveCount).toBe(0);
  });

  it('has layers of different sizes, whose slots are copied and exchanged whole', () => {
    const wide = { kvHeadCount: 1, rowLength: 8 };
    const store = new KvStore(new CountingBackend(), { ...SHAPE, layers: [LAYER, wide] });
    const slotOf = (layer: number, slot: number) => store.view(slot, 1).inputs.get(pastName(layer, 'value'))!;
    expect(slotOf(0, 0).shape).toEqual([1, 2, 5, 4]);
    expect(slotOf(1, 0).shape).toEqual([1, 1, 5, 8]);
    for (const layer of [0, 1]) (slotOf(layer, 1).data as Float32Array).fill(layer + 1);
    store.copySlot(1, 2, 5);
    store.swapSlots(1, 0, 5);
    for (const layer of [0, 1])
      for (const [slot, value] of [
        [0, layer + 1],
        [1, 0],
        [2, layer + 1],
      ] as const)
        expect(new Set(slotOf(layer, slot).data as Float32Array), `${layer}, ${slot}`).toEqual(
          new Set([value]),
        );
    store.dispose();
  });

  // 40 tokens in a ring of 32: the first 8 places hold positions 32 to 39.
  it.each([
    [40, 32],
    [20, 32],
    [16, 16],
  ])('of %d tokens copies and exchanges %d in a layer with a ring of 32', (length, moved) => {
    const ring = { ...LAYER, ringLength: 32 };
    const store = new KvStore(new CountingBackend(), { ...GROUPED, capacity: 64, layers: [LAYER, ring] });
    const head = 32 * LAYER.rowLength;
    expect(store.view(0, 2).inputs.get(pastName(0, 'key'))!.shape).toEqual([2, 2, 64, 4]);
    expect(store.view(0, 2).inputs.get(pastName(1, 'key'))!.shape).toEqual([2, 2, 32, 4]);
    for (const slot of [0, 1, 2]) keysOfSlot(store, slot).fill(slot + 1);
    const expectedOf = (slot: number, other: number) =>
      Array.from({ length: 2 * head }, (_, index) =>
        index % head < moved * LAYER.rowLength ? other + 1 : slot + 1,
      );
    store.swapSlots(1, 2, length);
    expect([...keysOfSlot(store, 1)]).toEqual(expectedOf(1, 2));
    expect([...keysOfSlot(store, 2)]).toEqual(expectedOf(2, 1));
    store.copySlot(1, 0, length);
    expect([...keysOfSlot(store, 0)]).toEqual(expectedOf(0, 2));
  });

  it('has no memory and no tensors for a layer that reads the cache of another', () => {
    const { inputs, outputs } = new KvStore(new CountingBackend(), { ...SHAPE, layers: [LAYER, null] }).view(
      0,
      1,
    );
    expect([...inputs.keys()]).toEqual([pastName(0, 'key'), pastName(0, 'value')]);
    expect([...outputs.keys()]).toEqual([presentName(0, 'key'), presentName(0, 'value')]);
  });

  it('takes no memory for tokens that were never written', () => {
    const before = process.memoryUsage.rss();
    const store = new KvStore(new CountingBackend(), {
      layers: Array.from({ length: 8 }, () => ({ kvHeadCount: 8, rowLength: 64 })),
      slotCount: 16,
      capacity: 4096,
      groupLength: 1,
      type: 'float32',
    });
    store.view(0, 16);
    // The arrays are 2 GiB together.
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 2 ** 20);
    store.dispose();
  });
});
