// The physical KV cache as slots: the only file that knows its memory layout. One array per layer and part,
//
//     [slotCount, kvHeadCount, capacity, rowLength]   float32, float16 or int8
//
// whose heads and rows may differ from layer to layer. A layer with a window may have a ring of fewer tokens than the capacity, with
// position p at p modulo its length, and a layer that attends to another's cache has none.
// In `kernels` graphs the tokens of a group are side by side, so capacities and copies are whole groups.
// A run of slots is a contiguous run of memory, so any batch of neighbouring slots is a view without copying.
// Memory that no token was written to costs nothing, see `untouched-arrays.ts`.

import { totalmem } from 'node:os';
import type { OrtBackend, OrtTensor } from '@ortler/onnxruntime';
import { assertInvariant, EngineError } from '../../../errors.ts';
import {
  cacheParts,
  type KvPart,
  type KvType,
  pastName,
  presentName,
} from '../../../graph-contract/index.ts';
import { allocateUntouched } from './untouched-arrays.ts';

/** The cache of one layer. */
export interface LayerShape {
  readonly kvHeadCount: number;
  /** Elements that one token and head take. */
  readonly rowLength: number;
  /** Tokens of a ring, whole groups. Absent: the capacity. */
  readonly ringLength?: number | undefined;
  /** There is no cache of values. Default: false. */
  readonly keysOnly?: boolean | undefined;
}

export interface KvShape {
  /** Null: a layer without a cache of its own. */
  readonly layers: readonly (LayerShape | null)[];
  readonly slotCount: number;
  /** Maximum number of tokens in a slot; rounded up to whole groups. */
  readonly capacity: number;
  /** Tokens that are copied together. */
  readonly groupLength: number;
  readonly type: KvType;
}

/** The cache of some neighbouring slots, by graph name; both maps hold the same tensors. */
export interface KvView {
  readonly inputs: ReadonlyMap<string, OrtTensor>;
  readonly outputs: ReadonlyMap<string, OrtTensor>;
}

/** The memory of one layer and part. */
export interface KvPool extends Omit<LayerShape, 'ringLength' | 'keysOnly'> {
  /** Tokens of a slot. */
  readonly capacity: number;
  readonly isRing: boolean;
  readonly layer: number;
  readonly part: KvPart;
  readonly data: KvArray;
}

export type KvArray = Float32Array | Uint16Array | Int8Array;

const TYPES = {
  float32: { array: Float32Array },
  float16: { array: Uint16Array },
  int8: { array: Int8Array },
} as const;

export class KvStore {
  readonly #backend: OrtBackend;
  readonly #shape: KvShape;
  readonly #pools: readonly KvPool[];
  /** Where one head of a slot waits while two slots are exchanged. */
  readonly #spare: KvArray;
  /** By first slot and count; at most one per slot and one per batch size. */
  readonly #views = new Map<string, KvView>();

  /**
   * @param machineBytes All memory of the machine, in use or not.
   * Throws: when there is no room for the arrays, `model_invalid` where that is more than the machine has, else
   * `engine_failed`: other programs may hold the memory, so another try may find it.
   */
  constructor(backend: OrtBackend, shape: KvShape, machineBytes = totalmem()) {
    this.#backend = backend;
    this.#shape = { ...shape, capacity: wholeGroups(shape, shape.capacity) };
    const { array } = TYPES[shape.type];
    try {
      const longest = Math.max(...shape.layers.map(layer => layer?.rowLength ?? 0));
      this.#spare = new array(this.#shape.capacity * longest);
      const pools = shape.layers.flatMap((own, layer) => {
        if (own === null) return [];
        const { kvHeadCount, rowLength } = own;
        const capacity = this.#capacityOf(own);
        const isRing = own.ringLength !== undefined;
        return cacheParts(own).map(part => ({ layer, part, kvHeadCount, rowLength, capacity, isRing }));
      });
      const lengths = pools.map(pool => shape.slotCount * pool.kvHeadCount * pool.capacity * pool.rowLength);
      const arrays = allocateUntouched<KvArray>(array, lengths);
      this.#pools = pools.map((pool, index) => ({ ...pool, data: arrays[index]! }));
    } catch (cause) {
      throw this.#noRoom(machineBytes, cause);
    }
  }

  #noRoom(machineBytes: number, cause: unknown): EngineError {
    const { slotCount, capacity, layers, type } = this.#shape;
    const slotLength = layers.reduce(
      (sum, layer) => sum + (layer === null ? 0 : cacheParts(layer).length * this.#slotLength(layer)),
      0,
    );
    const bytes = TYPES[type].array.BYTES_PER_ELEMENT * slotCount * slotLength;
    const cache = `The cache of ${slotCount} slots (maxSequences and cacheSlots) of contextLength ${capacity} takes up to ${toGib(bytes)}`;
    if (bytes <= machineBytes)
      return new EngineError('engine_failed', `${cache}, which cannot be reserved; lower one of them.`, {
        cause,
      });
    const machine = toGib(machineBytes);
    const message = `${cache}, which cannot be reserved: this machine has ${machine} in all; lower one of them.`;
    return new EngineError('model_invalid', message, { cause });
  }

  /** Elements of one slot in one array of a layer. */
  #slotLength(layer: LayerShape): number {
    return layer.kvHeadCount * this.#capacityOf(layer) * layer.rowLength;
  }

  #capacityOf({ ringLength }: LayerShape): number {
    return ringLength ?? this.#shape.capacity;
  }

  /** All slots. Unit: bytes. */
  get byteLength(): number {
    return this.#pools.reduce((sum, { data }) => sum + data.byteLength, 0);
  }

  /** Pools of the layers whose caches are rings. */
  get rings(): readonly KvPool[] {
    return this.#pools.filter(({ isRing }) => isRing);
  }

  /** Slots `[firstSlot, firstSlot + count)` as tensors of shape `[count, kvHeadCount, capacity, rowLength]`. */
  view(firstSlot: number, count: number): KvView {
    const key = `${firstSlot}+${count}`;
    const known = this.#views.get(key);
    if (known !== undefined) return known;
    const { slotCount, type } = this.#shape;
    assertInvariant(firstSlot >= 0 && firstSlot + count <= slotCount, 'a view covers existing slots');
    const inputs = new Map<string, OrtTensor>();
    const outputs = new Map<string, OrtTensor>();
    for (const pool of this.#pools) {
      const { layer, part, data, kvHeadCount, capacity, rowLength } = pool;
      const slotLength = kvHeadCount * capacity * rowLength;
      const rows = data.subarray(firstSlot * slotLength, (firstSlot + count) * slotLength);
      const tensor = this.#backend.createTensor(type, [count, kvHeadCount, capacity, rowLength], rows);
      inputs.set(pastName(layer, part), tensor);
      outputs.set(presentName(layer, part), tensor);
    }
    const view = { inputs, outputs };
    this.#views.set(key, view);
    return view;
  }

  /** Mutates: makes the first `length` tokens of slot `to` those of slot `from`, in a ring those of them that it holds. */
  copySlot(from: number, to: number, length: number): void {
    assertInvariant(length <= this.#shape.capacity, 'a slot holds at most its capacity');
    const tokens = wholeGroups(this.#shape, length);
    for (const { data, kvHeadCount, capacity, rowLength } of this.#pools) {
      const headLength = capacity * rowLength;
      const size = Math.min(tokens, capacity) * rowLength;
      for (let head = 0; head < kvHeadCount; head++) {
        const source = (from * kvHeadCount + head) * headLength;
        data.copyWithin((to * kvHeadCount + head) * headLength, source, source + size);
      }
    }
  }

  /** Mutates: exchanges the first `length` tokens of two slots, in a ring those of them that it holds. */
  swapSlots(a: number, b: number, length: number): void {
    assertInvariant(length <= this.#shape.capacity, 'a slot holds at most its capacity');
    const tokens = wholeGroups(this.#shape, length);
    for (const { data, kvHeadCount, capacity, rowLength } of this.#pools) {
      const headLength = capacity * rowLength;
      const size = Math.min(tokens, capacity) * rowLength;
      const spare = this.#spare.subarray(0, size);
      for (let head = 0; head < kvHeadCount; head++) {
        const startA = (a * kvHeadCount + head) * headLength;
        const startB = (b * kvHeadCount + head) * headLength;
        spare.set(data.subarray(startA, startA + size));
        data.copyWithin(startA, startB, startB + size);
        data.set(spare, startB);
      }
    }
  }

  dispose(): void {
    for (const { inputs } of this.#views.values()) for (const tensor of inputs.values()) tensor.dispose();
    this.#views.clear();
  }
}

function wholeGroups({ groupLength }: KvShape, length: number): number {
  return Math.ceil(length / groupLength) * groupLength;
}

function toGib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
