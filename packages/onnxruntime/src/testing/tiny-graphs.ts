// Graphs of one operator that the conformance suites of the bindings share, and an attention to step through.

import { encodeGraph, type GraphDescription } from '@ortler/onnx';
import type { ElementArray, OrtBackend, OrtSession, OrtValue } from '../backend.ts';

/** Shape of the attention: one row, one head. */
export const ATTENTION = { headSize: 8, capacity: 6 } as const;

const { headSize: HEAD_SIZE, capacity: CAPACITY } = ATTENTION;
const CACHE_SHAPE = [1, 1, CAPACITY, HEAD_SIZE];

/** A model that copies float32 `x` of shape `[n]` to `y`. */
export function identityModel(): Uint8Array {
  return encodeGraph({
    inputs: [{ name: 'x', type: 'float32', shape: ['n'] }],
    outputs: [{ name: 'y', type: 'float32', shape: ['n'] }],
    nodes: [{ opType: 'Identity', inputs: ['x'], outputs: ['y'] }],
  });
}

export function addGraph(): GraphDescription {
  return {
    inputs: [
      { name: 'a', type: 'float32', shape: ['n'] },
      { name: 'b', type: 'float32', shape: ['m'] },
    ],
    outputs: [{ name: 'sum', type: 'float32', shape: ['n'] }],
    nodes: [{ opType: 'Add', inputs: ['a', 'b'], outputs: ['sum'] }],
  };
}

/** One GroupQueryAttention with packed query, key and value, as in a `slots` graph. */
export function attentionGraph(): GraphDescription {
  const cache = [1, 1, 'capacity', HEAD_SIZE];
  return {
    inputs: [
      { name: 'qkv', type: 'float32', shape: [1, 'length', 3 * HEAD_SIZE] },
      { name: 'past_key', type: 'float32', shape: cache },
      { name: 'past_value', type: 'float32', shape: cache },
      { name: 'seqlens_k', type: 'int32', shape: [1] },
      { name: 'total', type: 'int32', shape: [] },
    ],
    outputs: [
      { name: 'out', type: 'float32', shape: [1, 'length', HEAD_SIZE] },
      { name: 'present_key', type: 'float32', shape: cache },
      { name: 'present_value', type: 'float32', shape: cache },
    ],
    nodes: [
      {
        opType: 'GroupQueryAttention',
        domain: 'com.microsoft',
        inputs: ['qkv', '', '', 'past_key', 'past_value', 'seqlens_k', 'total'],
        outputs: ['out', 'present_key', 'present_value'],
        integers: { num_heads: 1, kv_num_heads: 1 },
      },
    ],
  };
}

export interface Attention {
  readonly output: Float32Array;
  step(position: number): Promise<void>;
  /** All keys of the cache. Shape: `[capacity, headSize]`. */
  readKeys(): Promise<Float32Array>;
  dispose(): void;
}

/** An attention whose cache is on the session's device. Without `isInPlace`, each step writes another cache. */
export function createAttention(
  backend: OrtBackend,
  session: OrtSession,
  { isInPlace }: { readonly isInPlace: boolean },
): Attention {
  const tensor = (shape: readonly number[], type: 'float32' | 'int32', data: ElementArray): OrtValue =>
    backend.createTensor(type, shape, data);
  const qkv = new Float32Array(3 * HEAD_SIZE);
  const seqlens = new Int32Array(1);
  const total = new Int32Array(1);
  const output = new Float32Array(HEAD_SIZE);
  const keys = new Float32Array(CAPACITY * HEAD_SIZE);
  const keyTensor = backend.createTensor('float32', CACHE_SHAPE, keys);
  const past = [session.allocate('float32', CACHE_SHAPE), session.allocate('float32', CACHE_SHAPE)] as const;
  const present = isInPlace
    ? past
    : ([session.allocate('float32', CACHE_SHAPE), session.allocate('float32', CACHE_SHAPE)] as const);
  const binding = session.bind(
    new Map([
      ['qkv', tensor([1, 1, 3 * HEAD_SIZE], 'float32', qkv)],
      ['past_key', past[0]],
      ['past_value', past[1]],
      ['seqlens_k', tensor([1], 'int32', seqlens)],
      ['total', tensor([], 'int32', total)],
    ]),
    new Map([
      ['out', tensor([1, 1, HEAD_SIZE], 'float32', output)],
      ['present_key', present[0]],
      ['present_value', present[1]],
    ]),
  );
  return {
    output,
    async step(position) {
      // What memory holds at first is undefined.
      if (position === 0) for (const value of [...past, ...present]) await backend.copy(keyTensor, value);
      for (let i = 0; i < qkv.length; i++) qkv[i] = Math.sin(position * 31 + i) + 0.1;
      seqlens[0] = position;
      total[0] = position + 1;
      await binding.run();
      if (isInPlace) return;
      await backend.copy(present[0], past[0]);
      await backend.copy(present[1], past[1]);
    },
    async readKeys() {
      await backend.copy(past[0], keyTensor);
      return keys.slice();
    },
    dispose() {
      binding.dispose();
      for (const value of new Set([keyTensor, ...past, ...present])) value.dispose();
    },
  };
}
