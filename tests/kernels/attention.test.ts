// Attention of the kernels against float64 over the same cache, and its promises about bits: chunks of a prompt, rows of a batch,
// threads and instruction sets change nothing.

import { describe, expect, it } from 'vitest';
import { Random } from '../support/random.ts';
import { type CacheType, cacheLength, garbageCache, readKey, readValue } from './attention-cache.ts';
import {
  AttentionSession,
  type AttentionShape,
  garbageCaches,
  PLAIN,
  qkvWidth,
} from './attention-operator.ts';
import { expectedAttention } from './attention-oracle.ts';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import { worstShare } from './worst-share.ts';

const TYPES: readonly CacheType[] = ['float32', 'float16', 'int8'];

/** What differs from `PLAIN`. */
const CASES: readonly (readonly [string, Partial<AttentionShape>])[] = [
  ['plain', {}],
  ['a window', { window: 17 }],
  ['a window of one token', { window: 1 }],
  ['a soft cap', { softcap: 3 }],
  ['sinks', { hasSinks: true }],
  ['no rotation', { rotary: 0 }],
  ['partial rotation', { rotary: 24 }],
  ['interleaved rotation', { isInterleaved: true }],
  ['partial interleaved rotation', { rotary: 24, isInterleaved: true }],
  ['norms of queries and keys', { hasNorms: true }],
  ['another scale', { scale: 0.05 }],
  [
    'everything',
    { window: 20, softcap: 5, hasSinks: true, rotary: 16, isInterleaved: true, hasNorms: true, scale: 0.2 },
  ],
  ['heads of 8', { headSize: 8, rotary: 8 }],
  ['heads of 24', { headSize: 24, rotary: 24, hasNorms: true }],
  ['heads of an odd size', { headSize: 37, rotary: 36, hasNorms: true }],
  ['heads of 80', { headSize: 80, rotary: 40 }],
  ['heads of 128', { headSize: 128, rotary: 128 }],
  ['heads of 256', { headSize: 256, rotary: 256, heads: 1 }],
  [
    'heads of 576 over one of keys',
    { headSize: 576, rotary: 64, heads: 20, kvHeads: 1, isInterleaved: true },
  ],
  ...[1, 3, 4, 5, 7, 8].map(
    group => [`groups of ${group}`, { heads: 2 * group, kvHeads: 2, headSize: 16, rotary: 16 }] as const,
  ),
];

const tokensOf = (shape: AttentionShape, count: number): Float32Array =>
  new Random(shape.seed + 100).floats(count * qkvWidth(shape), 2);

/** The same tokens with a gate after each head of queries. */
function withGates(shape: AttentionShape, qkv: Float32Array, gates: Float32Array): Float32Array {
  const { heads, headSize } = shape;
  const width = qkvWidth(shape);
  const result: number[] = [];
  for (let token = 0; token < qkv.length / width; token++) {
    const row = qkv.subarray(token * width, (token + 1) * width);
    for (let head = 0; head < heads; head++) {
      const gate = (token * heads + head) * headSize;
      result.push(...row.subarray(head * headSize, (head + 1) * headSize));
      result.push(...gates.subarray(gate, gate + headSize));
    }
    result.push(...row.subarray(heads * headSize));
  }
  return Float32Array.from(result);
}

/** The same tokens with their keys, after norm and rotation, for values. */
function withKeysAsValues(shape: AttentionShape, qk: Float32Array): Float32Array {
  const [width, keysWidth] = [qkvWidth({ ...shape, keysOnly: true }), shape.kvHeads * shape.headSize];
  const count = qk.length / width;
  const rows = Array.from({ length: count }, (_, token) => qk.subarray(token * width, (token + 1) * width));
  const zeros = new Array<number>(keysWidth).fill(0);
  const { cachedKeys } = expectedAttention(
    { ...shape, type: 'float32' },
    Float32Array.from(rows.flatMap(row => [...row, ...zeros])),
  );
  return Float32Array.from(rows.flatMap((row, t) => [...row, ...cachedKeys[t]!.flatMap(key => [...key])]));
}

describe.each(INSTRUCTION_SETS)('attention on %s', isa => {
  describe.each(TYPES)('with a cache of %s', type => {
    it.each(CASES)('computes %s', async (_case, difference) => {
      const shape = { ...PLAIN, ...difference, type };
      const qkv = tokensOf(shape, 45);
      using session = await AttentionSession.create(shape, { isa });
      const whole = await session.runChunks(qkv, [45]);
      expect(worstShare(whole.y, expectedAttention(shape, qkv))).toBeLessThan(1);
    });

    it.each([16, 24, 37])('multiplies results by the sigmoid of gates, in heads of %i', async headSize => {
      const plain = { ...PLAIN, type, heads: 6, kvHeads: 2, headSize, rotary: 16, hasNorms: true };
      const qkv = tokensOf(plain, 40);
      const gates = new Random(7).floats(40 * 6 * headSize, 3);
      const gated = withGates(plain, qkv, gates);
      using without = await AttentionSession.create(plain, { isa });
      using session = await AttentionSession.create({ ...plain, isGated: true }, { isa });
      const { y } = await without.runChunks(qkv, [40]);
      const expected = Float64Array.from(y, (value, i) => value / (1 + Math.exp(-gates[i]!)));
      const result = await session.runChunks(gated, [40]);
      const bounds = expected.map(value => 1e-6 * Math.abs(value) + 1e-30);
      expect(worstShare(result.y, { values: expected, bounds })).toBeLessThan(1);
      expect(await session.runChunks(gated, [1, 30, 2, 7])).toEqual(result);
    });

    it('computes several pieces of keys, in chunks and in single tokens', async () => {
      const shape = { ...PLAIN, type, headSize: 16, rotary: 16, capacity: 800, hasSinks: true };
      const qkv = tokensOf(shape, 790);
      const expected = expectedAttention(shape, qkv);
      using session = await AttentionSession.create(shape, { isa });
      for (const chunks of [[790], [250, 1, 1, 1, 7, 1, 250, 1, 1, 276, 1]])
        expect(worstShare((await session.runChunks(qkv, chunks)).y, expected)).toBeLessThan(1);
    });

    it.each([0, 33, 300])('has the same bits in any chunks, with a window of %i', async window => {
      const shape = { ...PLAIN, type, heads: 6, kvHeads: 2, headSize: 24, rotary: 24, capacity: 608, window };
      const qkv = tokensOf(shape, 600);
      using session = await AttentionSession.create(shape, { isa });
      const whole = await session.runChunks(qkv, [600]);
      for (const chunks of [
        [1, 2, 3, 250, 1, 1, 1, 7, 300, 20, 13, 1],
        [...Array.from({ length: 270 }, () => 1), 330],
        [255, 1, 1, 2, 4, 8, 16, 313],
      ])
        expect(await session.runChunks(qkv, chunks)).toEqual(whole);
    });

    it.each([
      [1, [1, 2, 250, 3, 256, 88]],
      [33, [1, 2, 224, 7, 1, 1, 224, 140]],
      [256, Array.from({ length: 600 }, () => 1)],
    ])('has the same bits in a ring of one piece, with a window of %i', async (window, chunks) => {
      const shape = { ...PLAIN, type, heads: 6, kvHeads: 2, headSize: 24, rotary: 24, capacity: 608, window };
      const qkv = tokensOf(shape, 600);
      using session = await AttentionSession.create(shape, { isa });
      const { y } = await session.runChunks(qkv, chunks);
      using ring = await AttentionSession.create({ ...shape, capacity: 256, positions: 608 }, { isa });
      expect((await ring.runChunks(qkv, chunks)).y).toEqual(y);
    });

    it.each([
      [0, 608],
      [40, 256],
    ])('reads the cache that another layer appended to, with a window of %i', async (window, capacity) => {
      const shape = {
        ...PLAIN,
        type,
        heads: 4,
        kvHeads: 2,
        hasNorms: true,
        capacity,
        positions: 608,
        window,
      };
      const reading = { ...shape, readsOnly: true };
      const qkv = tokensOf(shape, 400);
      const [width, queryWidth] = [qkvWidth(shape), qkvWidth(reading)];
      using session = await AttentionSession.create(shape, { isa });
      using reader = await AttentionSession.create(reading, { isa });
      const cache = garbageCaches(shape, 1);
      for (let from = 0; from < 400; from += 200) {
        const tokens = qkv.slice(from * width, (from + 200) * width);
        const queries = Float32Array.from({ length: 200 * queryWidth }, (_, i) => {
          return tokens[Math.floor(i / queryWidth) * width + (i % queryWidth)]!;
        });
        const y = await session.run(tokens, [from + 199], cache);
        const before = structuredClone(cache);
        expect(await reader.run(queries, [from + 199], cache)).toEqual(y);
        expect(cache).toEqual(before);
      }
    });

    // Eight rows and one of queries at a time, over whole and parts of groups of keys.
    it.each([
      [16, 64],
      [12, 48],
      [3, 37],
    ])('sums %i heads of keys of %i where they are the values', async (heads, headSize) => {
      const shape = { ...PLAIN, type, heads, headSize, rotary: 16, hasNorms: true, capacity: 608 };
      const keysOnly = { ...shape, keysOnly: true };
      const qkv = tokensOf(keysOnly, 600);
      using session = await AttentionSession.create(keysOnly, { isa });
      const whole = await session.runChunks(qkv, [600]);
      for (const chunks of [[1, 2, 3, 250, 1, 1, 342], Array.from({ length: 600 }, () => 1)])
        expect(await session.runChunks(qkv, chunks)).toEqual(whole);
      // Codes of an int8 cache are those of transformed keys; the tests in C know them.
      if (type === 'int8') return;
      const first = qkv.slice(0, 45 * qkvWidth(keysOnly));
      const { y } = await session.runChunks(first, [45]);
      expect(worstShare(y, expectedAttention(shape, withKeysAsValues(shape, first)))).toBeLessThan(1);
    });

    it('has the same bits for a row alone and in a batch at other positions', async () => {
      const shape = {
        ...PLAIN,
        type,
        heads: 4,
        kvHeads: 2,
        headSize: 20,
        rotary: 20,
        capacity: 560,
        window: 270,
      };
      const lengths = [1, 17, 300, 555];
      using session = await AttentionSession.create(shape, { isa });
      const width = qkvWidth(shape);
      const tokens = lengths.map((length, index) => tokensOf({ ...shape, seed: index }, length));
      const alone = [];
      for (const [index, qkv] of tokens.entries()) {
        const length = lengths[index]!;
        alone.push(await session.runChunks(qkv, length === 1 ? [1] : [length - 1, 1]));
      }
      // The caches before the last token of each, one after the other.
      const batch = garbageCaches(shape, lengths.length);
      for (const [index, qkv] of tokens.entries()) {
        const before = await session.runChunks(
          qkv.slice(0, -width),
          lengths[index] === 1 ? [] : [lengths[index]! - 1],
        );
        for (const part of ['keys', 'values'] as const)
          batch[part].set(before[part] as never, index * cacheLength(shape, 1));
      }
      const qkv = Float32Array.from(tokens.flatMap(row => [...row.slice(-width)]));
      const y = await session.run(
        qkv,
        lengths.map(length => length - 1),
        batch,
      );
      const outputWidth = shape.heads * shape.headSize;
      for (const [index, { y: expected }] of alone.entries())
        expect(y.subarray(index * outputWidth, (index + 1) * outputWidth)).toEqual(
          expected.slice(-outputWidth),
        );
      for (const part of ['keys', 'values'] as const) {
        const length = cacheLength(shape, 1);
        for (const [index, { [part]: expected }] of alone.entries())
          expect(batch[part].slice(index * length, (index + 1) * length)).toEqual(expected);
      }
    });

    it('has the same bits with 1, 2 and 3 threads', async () => {
      const shape = { ...PLAIN, type, heads: 6, kvHeads: 3, capacity: 608 };
      const qkv = tokensOf(shape, 600);
      const results = [];
      for (const threadCount of [1, 2, 3]) {
        using session = await AttentionSession.create(shape, { isa, threadCount });
        results.push(await session.runChunks(qkv, [590, 1, 9]));
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    });

    it('of many heads over one of keys has the same bits with 1, 2 and 3 threads, and in chunks', async () => {
      const shape = { ...PLAIN, type, heads: 40, kvHeads: 1, headSize: 48, rotary: 16, capacity: 608 };
      const qkv = tokensOf(shape, 600);
      const results = [];
      for (const [threadCount, chunks] of [
        [1, [600]],
        [2, [590, 1, 1, 8]],
        [3, [597, 1, 1, 1]],
      ] as const) {
        using session = await AttentionSession.create(shape, { isa, threadCount });
        results.push(await session.runChunks(qkv, chunks));
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[2]).toEqual(results[0]);
    });

    it('keeps keys and values rounded once, and writes no other cell', async () => {
      const shape = { ...PLAIN, type, kvHeads: 2, headSize: 20, rotary: 16, hasNorms: true, capacity: 32 };
      const count = 21;
      const qkv = tokensOf(shape, count);
      const expected = expectedAttention(shape, qkv);
      using session = await AttentionSession.create(shape, { isa });
      const { keys, values } = await session.runChunks(qkv, [10, 11]);
      const untouched = garbageCache(shape, 1);
      for (let position = 0; position < shape.capacity; position++) {
        for (let head = 0; head < shape.kvHeads; head++) {
          const place = { sequence: 0, head, position };
          const isWritten = position < count;
          const key = isWritten ? expected.cachedKeys[position]![head] : readKey(shape, untouched, place);
          const value = isWritten
            ? expected.cachedValues[position]![head]
            : readValue(shape, untouched, place);
          expect(readKey(shape, keys, place)).toEqual(key);
          expect(readValue(shape, values, place)).toEqual(value);
        }
      }
    });

    it('with values of zero gives zeros', async () => {
      const shape = { ...PLAIN, type };
      using session = await AttentionSession.create(shape, { isa });
      const { y } = await session.runChunks(new Float32Array(20 * qkvWidth(shape)), [19, 1]);
      expect(y.every(value => value === 0)).toBe(true);
    });
  });
});

describe('attention on all instruction sets', () => {
  it.each(TYPES)('has the same bits and caches of %s', async type => {
    const everything = CASES.find(([name]) => name === 'everything')![1];
    const shape = {
      ...PLAIN,
      ...everything,
      type,
      window: 290,
      headSize: 37,
      heads: 6,
      kvHeads: 2,
      capacity: 608,
    };
    const qkv = tokensOf(shape, 600);
    const results = [];
    for (const isa of INSTRUCTION_SETS) {
      using session = await AttentionSession.create(shape, { isa });
      results.push(await session.runChunks(qkv, [300, 1, 1, 270, 28]));
    }
    for (const result of results) expect(result).toEqual(results[0]);
  });
});
