import { describe, expect, it } from 'vitest';
import { calibrationTokens, findCacheScales, firstScales } from './find-cache-scales.ts';

const CHANNELS = { layerCount: 2, kvHeadCount: 2, headSize: 4 };
const WIDTH = CHANNELS.kvHeadCount * CHANNELS.headSize;
const SIZES = { vocabSize: 300, contextLength: 50 };

/** A model whose keys and values are told: `magnitude(row, channel)` at their largest, half of it at other tokens. */
function toldModel(magnitude: (row: number, channel: number) => number) {
  const scales = firstScales(CHANNELS);
  const seen: Int32Array[] = [];
  const compute = async (tokenIds: Int32Array) => {
    seen.push(tokenIds);
    return Array.from({ length: 2 * CHANNELS.layerCount }, (_, row) =>
      Float32Array.from({ length: tokenIds.length * WIDTH }, (_, i) => {
        const channel = i % WIDTH;
        const share = Math.floor(i / WIDTH) === 3 ? -1 : 0.5;
        return (share * magnitude(row, channel)) / scales[row * WIDTH + channel]!;
      }),
    );
  };
  return { scales, seen, find: () => findCacheScales(scales, CHANNELS, SIZES, compute) };
}

describe('findCacheScales', () => {
  it('lets 127 stand for twice the largest magnitude, up to a step of the grid', async () => {
    // Far below, near and far above what the first scales reach; rows alternate between keys and values.
    const magnitude = (row: number) => [0.001, 0.3, 20, 5_000][row]!;
    const { scales, find } = toldModel(magnitude);
    await find();
    for (const [i, scale] of scales.entries()) {
      const row = Math.floor(i / WIDTH);
      // Both channels of a key's pair are as large as told, so the pair is longer.
      const largest = magnitude(row) * (row % 2 === 0 ? Math.SQRT2 : 1);
      const room = (127 * scale) / largest;
      expect(room).toBeGreaterThanOrEqual(2 * (1 - 1e-6));
      expect(room).toBeLessThan(2 * 2 ** (1 / 8) * (1 + 1e-6));
      // A whole number of eighths of an octave.
      const steps = Math.log2(scale) * 8;
      expect(Math.abs(steps - Math.round(steps))).toBeLessThan(1e-5);
    }
  });

  it('gives channels of keys that are rotated together one scale, for their length, and each of values its own', async () => {
    const magnitude = (_row: number, channel: number) => 1 + channel;
    const { scales, find } = toldModel(magnitude);
    await find();
    const head = (row: number, index: number) => [
      ...scales.subarray(row * WIDTH + index * 4, row * WIDTH + index * 4 + 4),
    ];
    for (const row of [0, 2]) {
      for (const index of [0, 1]) {
        const [a, b, c, d] = head(row, index);
        expect([a, b]).toEqual([c, d]);
        const length = Math.hypot(1 + 4 * index, 1 + 4 * index + 2);
        expect((127 * a!) / length).toBeGreaterThanOrEqual(2 * (1 - 1e-6));
        expect((127 * a!) / length).toBeLessThan(2 * 2 ** (1 / 8) * (1 + 1e-6));
        expect(a).toBeLessThan(b!);
      }
    }
    const values = [...head(1, 0), ...head(1, 1)];
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(new Set(values).size).toBeGreaterThan(5);
  });

  it('takes no channel for quieter than a 64th of the loudest of its head', async () => {
    const { scales, find } = toldModel((_row, channel) => (channel === 1 ? 64 : 0));
    await find();
    const values = scales.subarray(WIDTH, WIDTH + 4);
    expect(values[1]! / values[0]!).toBeCloseTo(64, 4);
    expect([values[2], values[3]]).toEqual([values[0], values[0]]);
  });

  it('has a scale for heads that are silent, and for numbers that are none', async () => {
    const { scales, find } = toldModel((row, channel) => (row === 0 ? Number.NaN : channel < 4 ? 0 : 1));
    await find();
    expect([...scales.subarray(0, WIDTH)]).toEqual(new Array<number>(WIDTH).fill(1));
    expect([...scales.subarray(WIDTH, WIDTH + 4)]).toEqual([1, 1, 1, 1]);
    expect(scales[WIDTH + 4]).toBeLessThan(0.02);
  });

  it('computes the same tokens each time, within context and vocabulary, and sequences that begin differently', async () => {
    const models = [toldModel(() => 1), toldModel(() => 1)];
    for (const { find } of models) await find();
    expect(models[0]!.seen).toEqual(models[1]!.seen);
    const { seen } = models[0]!;
    expect(seen.every(({ length }) => length === SIZES.contextLength)).toBe(true);
    expect(seen.every(tokens => tokens.every(id => id >= 0 && id < SIZES.vocabSize))).toBe(true);
    const last = seen.slice(-4);
    expect(last.map(tokens => tokens[0])).toEqual([0, 299, 1, 298]);
    expect(new Set(last.map(tokens => tokens.join())).size).toBe(4);
  });
});

describe('calibrationTokens', () => {
  it('come from all over the vocabulary, and some of them again', () => {
    const tokens = calibrationTokens(0, 96, 30_000);
    for (const quarter of [0, 1, 2, 3])
      expect(tokens.filter(id => Math.floor(id / 7_500) === quarter).length).toBeGreaterThan(10);
    const distinct = new Set(tokens).size;
    expect(distinct).toBeGreaterThan(55);
    expect(distinct).toBeLessThan(75);
  });

  it('exist for the smallest of vocabularies and contexts', () => {
    expect([...calibrationTokens(3, 1, 1)]).toEqual([0]);
  });
});
