// A minimal runner of `slots` graphs on onnxruntime-node with its own KV cache, for tests of graphs.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CACHE_SCALES_INPUT,
  MANIFEST_FILE,
  type ModelManifest,
  pastName,
  presentName,
  SLOTS_INPUT,
  SLOTS_OUTPUT,
  WIDENED_INPUT,
} from '@ortler/engine/graph-contract';
import { InferenceSession, Tensor } from 'onnxruntime-node';

export interface SlotsSessionOptions {
  readonly batch?: number;
  /** Unit: tokens. */
  readonly capacity?: number;
  /** Another graph of the folder than the manifest's. */
  readonly graphFile?: string;
  /** Scales of an int8 KV cache. Shape: `[2 * layerCount, kvHeadCount * headSize]`. */
  readonly scales?: Float32Array;
}

/** A batch of sequences that are computed together, call after call. */
export class SlotsSession {
  readonly manifest: ModelManifest;
  readonly #session: InferenceSession;
  readonly #capacity: number;
  readonly #cache = new Map<string, Tensor>();
  readonly #scales: Float32Array | undefined;

  private constructor(
    session: InferenceSession,
    manifest: ModelManifest,
    { batch = 1, capacity = 128, scales }: SlotsSessionOptions,
  ) {
    this.#scales = scales;
    this.#session = session;
    this.manifest = manifest;
    this.#capacity = capacity;
    const { kvHeadCount, headSize, kvType } = manifest;
    for (const name of this.#cacheNames()) {
      const dims = [batch, kvHeadCount, capacity, headSize];
      const length = batch * kvHeadCount * capacity * headSize;
      this.#cache.set(
        name,
        kvType === 'int8'
          ? new Tensor('int8', new Int8Array(length), dims)
          : new Tensor('float32', new Float32Array(length), dims),
      );
    }
  }

  static async open(folder: string, options: SlotsSessionOptions = {}): Promise<SlotsSession> {
    const manifest = JSON.parse(await readFile(join(folder, MANIFEST_FILE), 'utf8')) as ModelManifest;
    const session = await InferenceSession.create(join(folder, options.graphFile ?? manifest.graphFile), {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      // Errors alone: this runner knows that it copies caches.
      logSeverityLevel: 3,
    });
    return new SlotsSession(session, manifest, options);
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
    const results = await this.#compute(tokens, computed, {
      [SLOTS_INPUT.logitRows]: new Tensor(
        'int64',
        BigInt64Array.from(logitRows, row => BigInt(row)),
        [logitRows.length],
      ),
    });
    const logits = results[SLOTS_OUTPUT.logits]!.data as Float32Array;
    const { vocabSize } = this.manifest;
    return logitRows.map((_, i) => logits.slice(i * vocabSize, (i + 1) * vocabSize));
  }

  /** Computes tokens of the only sequence by a graph without logits. Mutates: the cache. */
  async fill(tokens: readonly number[], computed: number): Promise<void> {
    await this.#compute([tokens], [computed], {});
  }

  /** Keys and values of the first `length` tokens of the only sequence, all layers after each other. */
  cacheOf(length: number): Float32Array {
    const { headSize, kvHeadCount } = this.manifest;
    const rows = this.#cacheNames().flatMap(name => {
      const data = this.#cache.get(name)!.data as Float32Array;
      return Array.from({ length: kvHeadCount }, (_, head) => {
        const start = head * this.#capacity * headSize;
        return data.subarray(start, start + length * headSize);
      });
    });
    return Float32Array.from(rows.flatMap(row => [...row]));
  }

  /** The whole cache of one layer and part. */
  codesOf(name: string): Int8Array {
    return this.#cache.get(name)!.data as Int8Array;
  }

  /** Mutates: the cache. */
  async #compute(
    tokens: readonly (readonly number[])[],
    computed: readonly number[],
    more: Readonly<Record<string, Tensor>>,
  ): Promise<InferenceSession.OnnxValueMapType> {
    const batch = tokens.length;
    const length = tokens[0]!.length;
    const totals = computed.map(count => count + length);
    const ids = BigInt64Array.from(tokens.flat(), id => BigInt(id));
    const feeds: Record<string, Tensor> = {
      [SLOTS_INPUT.inputIds]: new Tensor('int64', ids, [batch, length]),
      [SLOTS_INPUT.lastPositions]: new Tensor(
        'int32',
        Int32Array.from(totals, total => total - 1),
        [batch],
      ),
      [SLOTS_INPUT.totalLength]: new Tensor('int32', Int32Array.of(Math.max(...totals)), []),
      ...more,
      ...this.#codeFeeds(Math.max(...totals)),
      ...Object.fromEntries(this.#cache),
    };
    const results = await this.#session.run(feeds);
    for (const part of ['key', 'value'] as const) {
      for (let layer = 0; layer < this.manifest.layerCount; layer++) {
        this.#cache.set(pastName(layer, part), results[presentName(layer, part)] as Tensor);
      }
    }
    return results;
  }

  /** Inputs of graphs with an int8 KV cache. */
  #codeFeeds(total: number): Record<string, Tensor> {
    if (this.#scales === undefined) return {};
    const { layerCount, kvHeadCount, headSize } = this.manifest;
    const dims = [2 * layerCount, kvHeadCount * headSize];
    const feeds: Record<string, Tensor> = {
      [CACHE_SCALES_INPUT]: new Tensor('float32', this.#scales, dims),
    };
    if (this.#session.inputNames.includes(WIDENED_INPUT.length)) {
      // More than there are tokens, because positions after them must have no effect.
      const length = Math.min(this.#capacity, total + 3);
      feeds[WIDENED_INPUT.length] = new Tensor('int64', BigInt64Array.of(BigInt(length)), [1]);
    }
    return feeds;
  }

  /** Copies the cache of the only sequence of `other` into sequence `index` of this one. Mutates: the cache. */
  copyCacheFrom(other: SlotsSession, index: number): void {
    for (const name of this.#cacheNames()) {
      const source = other.#cache.get(name)!.data as Float32Array | Int8Array;
      (this.#cache.get(name)!.data as Float32Array | Int8Array).set(source, index * source.length);
    }
  }

  get capacity(): number {
    return this.#capacity;
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  #cacheNames(): string[] {
    return Array.from({ length: this.manifest.layerCount }, (_, layer) => [
      pastName(layer, 'key'),
      pastName(layer, 'value'),
    ]).flat();
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

/** Root of the mean squared difference over the root of the mean square. */
export function relativeError(rows: readonly Float32Array[], expected: readonly Float32Array[]): number {
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
