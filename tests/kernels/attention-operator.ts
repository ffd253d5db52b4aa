// An `Attention` with random constants: its graph, and calls on a cache.

import { type AttributeValue, float, int } from '@ortler/onnx';
import type { ElementArray } from '@ortler/onnxruntime';
import { Random } from '../support/random.ts';
import { type CacheShape, garbageCache, rowLength } from './attention-cache.ts';
import {
  type CallValue,
  floatConstant,
  type OperatorGraph,
  type OperatorInput,
  type OperatorOptions,
  OperatorSession,
} from './operator-session.ts';

const OPERATORS = { float32: 'Attention', float16: 'AttentionFloat16', int8: 'AttentionInt8' } as const;

export interface AttentionShape extends CacheShape {
  readonly heads: number;
  /** Of the rotary tables. Default: the capacity. */
  readonly positions?: number;
  /** Whether there are queries only, over the cache of another layer. */
  readonly readsOnly?: boolean;
  /** Whether the keys are the values too. */
  readonly keysOnly?: boolean;
  /** Whether each head of queries has a gate after it. */
  readonly isGated?: boolean;
  /** Channels that are rotated; 0: the graph has no rotary tables. */
  readonly rotary: number;
  readonly isInterleaved: boolean;
  /** 0: all tokens. */
  readonly window: number;
  /** 0: none. */
  readonly softcap: number;
  /** Undefined: the operator's default. */
  readonly scale?: number | undefined;
  readonly hasNorms: boolean;
  readonly hasSinks: boolean;
  readonly seed: number;
}

export const EPSILON = 1e-6;

/** Two heads of 64 channels with rotation over one head of keys. */
export const PLAIN: AttentionShape = {
  type: 'float32',
  heads: 2,
  kvHeads: 1,
  headSize: 64,
  capacity: 64,
  rotary: 64,
  isInterleaved: false,
  window: 0,
  softcap: 0,
  hasNorms: false,
  hasSinks: false,
  seed: 1,
};

export interface AttentionConstants {
  /** Shape: `[positions, rotary / 2]`. */
  readonly cosines: Float32Array | undefined;
  readonly sines: Float32Array | undefined;
  readonly queryNorm: Float32Array | undefined;
  readonly keyNorm: Float32Array | undefined;
  readonly sinks: Float32Array | undefined;
}

export function randomConstants(shape: AttentionShape): AttentionConstants {
  const { rotary, capacity, positions = capacity, headSize, heads, hasNorms, hasSinks, seed } = shape;
  const random = new Random(seed);
  const half = rotary / 2;
  const table = (wave: (angle: number) => number): Float32Array =>
    Float32Array.from({ length: positions * half }, (_, i) =>
      wave(Math.floor(i / half) * 10_000 ** (-(i % half) / half)),
    );
  return {
    cosines: rotary > 0 ? table(Math.cos) : undefined,
    sines: rotary > 0 ? table(Math.sin) : undefined,
    queryNorm: hasNorms ? random.floats(headSize, 2) : undefined,
    keyNorm: hasNorms ? random.floats(headSize, 2) : undefined,
    sinks: hasSinks ? random.floats(heads, 2) : undefined,
  };
}

export function attentionGraph(shape: AttentionShape, constants: AttentionConstants): OperatorGraph {
  const { type, heads, kvHeads, headSize, rotary, capacity, positions = capacity } = shape;
  const cache = (name: string): OperatorInput => ({ name, type, shape: [0, 0, 0, 0] });
  const constant = (
    name: string,
    dims: readonly number[],
    values: Float32Array | undefined,
  ): OperatorInput | null => (values === undefined ? null : floatConstant(name, dims, values));
  return {
    opType: OPERATORS[type],
    inputs: [
      { name: 'qkv', type: 'float32', shape: [0, 0, 0] },
      cache('past_keys'),
      cache('past_values'),
      { name: 'last', type: 'int32', shape: [0] },
      constant('cosines', [positions, rotary / 2], constants.cosines),
      constant('sines', [positions, rotary / 2], constants.sines),
      constant('query_norm', [headSize], constants.queryNorm),
      constant('key_norm', [headSize], shape.readsOnly ? undefined : constants.keyNorm),
      constant('sinks', [heads], constants.sinks),
    ],
    outputs: [
      { name: 'y', type: 'float32', rank: 3 },
      ...appendedParts(shape).map(name => ({ name, type, rank: 4 })),
    ],
    attributes: { heads: int(heads), kv_heads: int(kvHeads), ...optionalAttributes(shape) },
  };
}

function optionalAttributes(shape: AttentionShape): Record<string, AttributeValue> {
  return {
    head_size: int(shape.headSize),
    interleaved: int(shape.isInterleaved ? 1 : 0),
    window: int(shape.window),
    softcap: float(shape.softcap),
    epsilon: float(EPSILON),
    ...(shape.readsOnly ? { reads_only: int(1) } : {}),
    ...(shape.keysOnly ? { keys_only: int(1) } : {}),
    ...(shape.isGated ? { gated: int(1) } : {}),
    ...(shape.scale === undefined ? {} : { scale: float(shape.scale) }),
  };
}

/** The caches that the operator appends to. */
function appendedParts({ readsOnly, keysOnly }: AttentionShape): readonly ('keys' | 'values')[] {
  if (readsOnly) return [];
  return keysOnly ? ['keys'] : ['keys', 'values'];
}

/** Columns of a token's queries, with their gates, keys and values. */
export function qkvWidth(shape: AttentionShape): number {
  const { heads, kvHeads, headSize, isGated } = shape;
  return (heads * (isGated ? 2 : 1) + appendedParts(shape).length * kvHeads) * headSize;
}

export interface CacheMemory {
  readonly keys: ElementArray;
  readonly values: ElementArray;
}

export class AttentionSession implements Disposable {
  readonly #session: OperatorSession;
  readonly #shape: AttentionShape;

  private constructor(session: OperatorSession, shape: AttentionShape) {
    this.#session = session;
    this.#shape = shape;
  }

  static async create(shape: AttentionShape, options: OperatorOptions): Promise<AttentionSession> {
    const graph = attentionGraph(shape, randomConstants(shape));
    return new AttentionSession(await OperatorSession.create(graph, options), shape);
  }

  /**
   * Tokens of several sequences, equally many of each, the last ones at the positions `last`.
   * Shape: `qkv` is `[batch, length, qkvWidth]`. Mutates: `cache`.
   */
  async run(qkv: Float32Array, last: readonly number[], cache: CacheMemory): Promise<Float32Array> {
    const { type, kvHeads, capacity, heads, headSize } = this.#shape;
    const batch = last.length;
    const length = qkv.length / qkvWidth(this.#shape) / batch;
    const memory = (data: ElementArray): CallValue => {
      return { type, shape: [batch, kvHeads, capacity, rowLength(this.#shape)], data };
    };
    const y = new Float32Array(batch * length * heads * headSize);
    await this.#session.run(
      {
        qkv: { type: 'float32', shape: [batch, length, qkvWidth(this.#shape)], data: qkv },
        past_keys: memory(cache.keys),
        past_values: memory(cache.values),
        last: { type: 'int32', shape: [batch], data: Int32Array.from(last) },
      },
      {
        y: { type: 'float32', shape: [batch, length, heads * headSize], data: y },
        ...Object.fromEntries(appendedParts(this.#shape).map(part => [part, memory(cache[part])])),
      },
    );
    return y;
  }

  /** One sequence from position 0 on, in chunks of these lengths, on a cache full of garbage. */
  async runChunks(qkv: Float32Array, lengths: readonly number[]): Promise<CacheMemory & { y: Float32Array }> {
    const cache = garbageCaches(this.#shape, 1);
    const width = qkvWidth(this.#shape);
    const outputs: Float32Array[] = [];
    let from = 0;
    for (const length of lengths) {
      outputs.push(
        await this.run(qkv.slice(from * width, (from + length) * width), [from + length - 1], cache),
      );
      from += length;
    }
    return { ...cache, y: Float32Array.from(outputs.flatMap(output => [...output])) };
  }

  [Symbol.dispose](): void {
    this.#session[Symbol.dispose]();
  }
}

export function garbageCaches(shape: AttentionShape, batch: number): CacheMemory {
  const keys = garbageCache(shape, batch);
  return { keys, values: shape.keysOnly ? keys : garbageCache(shape, batch) };
}
