import type { WeightFormat } from '@ortler/kernels';
import { GraphRecorder } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { declareTiles } from './declare-tiles.ts';
import { relativeError } from './sample-error.ts';
import { MatrixError, type WrittenMatrix } from './written-matrix.ts';

/** Neither side is a multiple of its tile or block. */
const SHAPE = [40, 80] as const;
const weights = new Float32Array(SHAPE[0] * SHAPE[1]);
fillSeeded(weights, { seed: 1, name: 'weights', scale: 0.1 });

async function write(format: WeightFormat): Promise<WrittenMatrix> {
  const found: WrittenMatrix[] = [];
  const graph = new GraphRecorder();
  const tensor = {
    name: 'weight',
    shape: SHAPE,
    readFloats: async (from: number, target: Float32Array) =>
      target.set(weights.subarray(from, from + target.length)),
  };
  declareTiles(graph, 'weight', [tensor], { format, onMatrix: matrix => found.push(matrix) });
  for (const group of graph.weights) for await (const _chunk of group.produce());
  expect(found).toHaveLength(1);
  return found[0]!;
}

describe('the error of a written matrix', () => {
  it('is zero in float32', async () => {
    expect(await write('f32')).toMatchObject({ weightCount: 3200, relativeError: 0 });
  });

  it('is that of fitting each block', async () => {
    const padded = new Float32Array(40 * 96);
    for (let row = 0; row < 40; row++) padded.set(weights.subarray(row * 80, (row + 1) * 80), row * 96);
    for (const format of ['q4', 'q4-min', 'q5', 'q5-min', 'q6', 'q8'] as const) {
      const { relativeError: error } = await write(format);
      expect(error).toBeGreaterThan(0);
      expect(error).toBeCloseTo(relativeError(format, padded), 10);
    }
  });

  it('counts what other bytes in the tile would give', () => {
    const values = new Float32Array(16 * 32).fill(1);
    const tile = new Uint8Array(16 * 32 * 4);
    const error = new MatrixError('f32');
    error.add(values, tile, 0);
    expect(error.relative).toBe(1);
  });
});
