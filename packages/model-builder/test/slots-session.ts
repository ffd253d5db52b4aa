// A minimal runner of `kernels` and `slots` graphs with its own KV cache, for tests of graphs.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  cacheParts,
  cacheRowLength,
  layerCaches,
  MANIFEST_FILE,
  type ModelManifest,
  ownsCache,
  pastName,
  pastStateName,
  presentName,
  presentStateName,
  SLOTS_INPUT,
  SLOTS_OUTPUT,
} from '@ortler/engine/graph-contract';
import { type OrtBackend, type OrtSession, type OrtValue, selectBackend } from '@ortler/onnxruntime';

export interface SlotsSessionOptions {
  readonly batch?: number;
  /** Unit: tokens; whole groups of a `kernels` graph. */
  readonly capacity?: number;
  /** Another graph of the folder than the manifest's. */
  readonly graphFile?: string;
  readonly threadCount?: number;
}

type CacheArray = Float32Array | Uint16Array | Int8Array;

const CACHE_ARRAYS = { float32: Float32Array, float16: Uint16Array, int8: Int8Array } as const;

/** A batch of sequences that are computed together, call after call. */
export class SlotsSession {
  readonly manifest: ModelManifest;
  readonly #backend: OrtBackend;
  readonly #session: OrtSession;
  readonly #batch: number;
  readonly #capacity: number;
  readonly #cache = new Map<string, CacheArray>();
  /** Two entries for each sequence of a recurrent model: a call reads one and writes the other. */
  readonly #states = new Map<string, { readonly shape: readonly number[]; readonly data: Float32Array }>();
  #stateTurn = 0;

  private constructor(
    backend: OrtBackend,
    session: OrtSession,
    manifest: ModelManifest,
    { batch = 1, capacity = 128 }: SlotsSessionOptions,
  ) {
    this.#backend = backend;
    this.#session = session;
    this.manifest = manifest;
    this.#batch = batch;
    this.#capacity = capacity;
    for (const layer of this.#cachedLayers) {
      const length = this.#cacheDims(layer).reduce((product, dim) => product * dim, 1);
      for (const part of this.#partsOf(layer))
        this.#cache.set(pastName(layer, part), new CACHE_ARRAYS[manifest.kvType](length));
    }
    for (const [layer, { states = [] }] of layerCaches(manifest).entries())
      for (const [index, shape] of states.entries()) {
        const size = shape.reduce((product, dim) => product * dim, 1);
        // What a new sequence must not read.
        const data = new Float32Array(2 * batch * size).fill(Number.NaN);
        this.#states.set(`${layer}.${index}`, { shape: [2 * batch, ...shape], data });
      }
  }

  /** Each sequence reads one of its two states and writes the other. */
  #bindStates(
    inputs: Map<string, OrtValue>,
    outputs: Map<string, OrtValue>,
    batch: number,
    length: number,
    computed: readonly number[],
  ): void {
    if (this.#states.size === 0) return;
    const turn = this.#stateTurn++ % 2;
    const reads = computed.map((count, index) => (count === 0 ? -1 : 2 * index + turn));
    const writes = new Array<number>(batch * length).fill(-1);
    for (let index = 0; index < batch; index++) writes[(index + 1) * length - 1] = 2 * index + 1 - turn;
    inputs.set(SLOTS_INPUT.stateReads, this.#int32([batch], reads));
    inputs.set(SLOTS_INPUT.stateWrites, this.#int32([batch, length], writes));
    for (const [name, { shape, data }] of this.#states) {
      const [layer, index] = name.split('.').map(Number) as [number, number];
      const pool = this.#backend.createTensor('float32', shape, data);
      inputs.set(pastStateName(layer, index), pool);
      outputs.set(presentStateName(layer, index), pool);
    }
  }

  static async open(folder: string, options: SlotsSessionOptions = {}): Promise<SlotsSession> {
    const manifest = JSON.parse(await readFile(join(folder, MANIFEST_FILE), 'utf8')) as ModelManifest;
    const { backend } = await selectBackend('native');
    const { graphFile = manifest.graphFile, threadCount = 1 } = options;
    const session = await backend.createSession(join(folder, graphFile), { threadCount, spin: false });
    return new SlotsSession(backend, session, manifest, options);
  }

  /**
   * Computes `tokens` (equally many for each sequence) after the `computed` tokens each sequence has.
   *
   * Returns logits of the flattened positions in `logitRows`; the default is all of them.
   * Shape: `[logitRows.length][vocabSize]`. Mutates: the cache.
   */
  async run(
    tokens: readonly (readonly number[])[],
    computed: readonly number[],
    logitRows: readonly number[] = tokens.flat().map((_, i) => i),
  ): Promise<Float32Array[]> {
    const { vocabSize } = this.manifest;
    const length = tokens[0]!.length;
    const totals = computed.map(count => count + length);
    const logits = new Float32Array(logitRows.length * vocabSize);
    const inputs = new Map<string, OrtValue>([
      [SLOTS_INPUT.inputIds, this.#int64([tokens.length, length], tokens.flat())],
      [
        SLOTS_INPUT.lastPositions,
        this.#int32(
          [tokens.length],
          totals.map(total => total - 1),
        ),
      ],
      [SLOTS_INPUT.logitRows, this.#int64([logitRows.length], logitRows)],
    ]);
    if (this.manifest.variant === 'slots')
      inputs.set(SLOTS_INPUT.totalLength, this.#int32([], [Math.max(...totals)]));
    const outputs = new Map<string, OrtValue>([
      [SLOTS_OUTPUT.logits, this.#backend.createTensor('float32', [logitRows.length, vocabSize], logits)],
    ]);
    for (const layer of this.#cachedLayers) {
      for (const part of this.#partsOf(layer)) {
        const data = this.#cache.get(pastName(layer, part))!;
        const tensor = this.#backend.createTensor(this.manifest.kvType, this.#cacheDims(layer), data);
        inputs.set(pastName(layer, part), tensor);
        outputs.set(presentName(layer, part), tensor);
      }
    }
    this.#bindStates(inputs, outputs, tokens.length, length, computed);
    const binding = this.#session.bind(inputs, outputs);
    await binding.run();
    binding.dispose();
    for (const value of new Set([...inputs.values(), ...outputs.values()])) value.dispose();
    return logitRows.map((_, i) => logits.slice(i * vocabSize, (i + 1) * vocabSize));
  }

  /** Layers that do not read the cache of another one. */
  get #cachedLayers(): number[] {
    return layerCaches(this.manifest).flatMap((cache, layer) => (ownsCache(cache) ? [layer] : []));
  }

  #partsOf(layer: number) {
    return cacheParts(layerCaches(this.manifest)[layer]!);
  }

  /** Copies the cache of the only sequence of `other` into sequence `index` of this one. Mutates: the cache. */
  copyCacheFrom(other: SlotsSession, index: number): void {
    for (const [name, target] of this.#cache) {
      const source = other.#cache.get(name)!;
      target.set(source, index * source.length);
    }
    for (const [name, { data }] of this.#states) {
      const source = other.#states.get(name)!.data;
      const size = source.length / 2;
      const [from, to] = [other.#stateTurn % 2, 2 * index + (this.#stateTurn % 2)];
      data.set(source.subarray(from * size, (from + 1) * size), to * size);
    }
  }

  async close(): Promise<void> {
    this.#session.dispose();
  }

  #cacheDims(layer: number): readonly number[] {
    const { kvHeadCount, headSize } = layerCaches(this.manifest)[layer]!;
    return [this.#batch, kvHeadCount, this.#capacity, cacheRowLength({ ...this.manifest, headSize })];
  }

  #int64(shape: readonly number[], values: readonly number[]): OrtValue {
    return this.#backend.createTensor(
      'int64',
      shape,
      BigInt64Array.from(values, value => BigInt(value)),
    );
  }

  #int32(shape: readonly number[], values: readonly number[]): OrtValue {
    return this.#backend.createTensor('int32', shape, Int32Array.from(values));
  }
}

/** Index of the largest value. */
export function argmax(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best;
}

/** Largest absolute difference of two rows of equal length. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) throw new Error(`lengths differ: ${a.length} and ${b.length}`);
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    // Written so that a difference that is not a number counts as infinite.
    const difference = Math.abs(a[i]! - b[i]!);
    if (!(difference <= largest)) largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  return largest;
}

/** Logits of every position of a prompt that a new session computes in one call. */
export async function logitsOf(
  model: string,
  prompt: readonly number[],
  graphFile?: string,
): Promise<Float32Array[]> {
  const session = await SlotsSession.open(model, graphFile === undefined ? {} : { graphFile });
  const logits = await session.run([prompt], [0]);
  await session.close();
  return logits;
}

/** Root of the mean squared difference over the root of the mean square. */
export function relativeError(
  rows: readonly ArrayLike<number>[],
  expected: readonly ArrayLike<number>[],
): number {
  let differences = 0;
  let squares = 0;
  for (const [row, target] of expected.entries()) {
    for (let i = 0; i < target.length; i++) {
      differences += (rows[row]![i]! - target[i]!) ** 2;
      squares += target[i]! ** 2;
    }
  }
  return Math.sqrt(differences / squares);
}
