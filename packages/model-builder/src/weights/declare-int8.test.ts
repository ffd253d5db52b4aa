import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { GraphRecorder, WrittenTensors, writeWeights } from '@ortler/onnx';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dequantiseRows } from '../../test/dequantise.ts';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { declareInt8, type Int8Source } from './declare-int8.ts';
import { declareQuantised } from './declare-weights.ts';
import { allocateQuantisedRows, quantiseRows4 } from './quantise.ts';

const folder = temporaryFolder();
let fileCount = 0;

function matrixOf(values: Float32Array, width: number): CheckpointTensor {
  return {
    name: 'values',
    shape: [values.length / width, width],
    readFloats: async (from, target) => target.set(values.subarray(from, from + target.length)),
  };
}

/** Writes the graph's weights to a file of their own. */
async function write(graph: GraphRecorder, written: WrittenTensors): Promise<void> {
  const fileName = `${fileCount++}.data`;
  const file = await open(join(folder, fileName), 'wx');
  written.add(await writeWeights(graph, file, { fileName, written }).finally(() => file.close()));
}

/** Codes, `[width, rows]`, and scales that are written for matrices joined along their rows. */
async function int8Of(parts: readonly CheckpointTensor[], source: Int8Source, written: WrittenTensors) {
  const graph = new GraphRecorder();
  const { codes, scales } = declareInt8(graph, 'product', parts, source);
  await write(graph, written);
  const rows = parts.reduce((sum, { shape }) => sum + shape[0]!, 0);
  const result = { codes: new Int8Array(rows * parts[0]!.shape[1]!), scales: new Float32Array(rows) };
  await written.read(codes, 0, new Uint8Array(result.codes.buffer));
  await written.read(scales, 0, new Uint8Array(result.scales.buffer));
  await written.close();
  return result;
}

/** The same, computed the plain way from the description. */
function plainInt8(values: Float32Array, width: number) {
  const rows = values.length / width;
  const codes = new Int8Array(values.length);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const numbers = values.subarray(row * width, (row + 1) * width);
    scales[row] = Math.max(...numbers.map(Math.abs)) / 127;
    const inverse = scales[row] === 0 ? 0 : 1 / scales[row]!;
    for (const [column, number] of numbers.entries())
      codes[column * rows + row] = Math.max(-127, Math.min(127, Math.round(number * inverse)));
  }
  return { codes, scales };
}

describe('int8 codes of checkpoint weights', () => {
  const checkpoint = { kind: 'checkpoint' } as const;

  it('are rounded to nearest, with a scale for each row', async () => {
    const width = 5;
    const rows = fc.array(
      fc.oneof(
        fc.float({ min: -2, max: 2, noNaN: true }),
        // Scales and quotients that cannot be exact.
        fc.float({ min: -(2 ** -140), max: 2 ** -140, noNaN: true }),
      ),
      { minLength: width, maxLength: 30 * width },
    );
    await fc.assert(
      fc.asyncProperty(rows, async numbers => {
        const values = Float32Array.from(numbers.slice(0, numbers.length - (numbers.length % width)));
        const result = await int8Of([matrixOf(values, width)], checkpoint, new WrittenTensors(folder));
        expect(result).toEqual(plainInt8(values, width));
      }),
      { numRuns: 30 },
    );
  });

  it('are rounded upwards from a half, and not from just below one', async () => {
    const halves = Float32Array.of(127, 0.5, -0.5, 1.5, -1.5, 126.5, -126.5);
    // 24.5 * (1 / 49) is the largest number below a half.
    const below = Float32Array.of(127 * 49, 24.5, -24.5, 0, 0, 0, 0);
    const written = new WrittenTensors(folder);
    const { codes } = await int8Of([matrixOf(halves, 7), matrixOf(below, 7)], checkpoint, written);
    expect([...codes].filter((_, i) => i % 2 === 0)).toEqual([127, 1, 0, 2, -1, 127, -126]);
    expect([...codes].filter((_, i) => i % 2 === 1)).toEqual([127, 0, 0, 0, 0, 0, 0]);
  });

  it('of several matrices are concatenated by rows', async () => {
    const [first, second] = [seeded(70, 130, 'first'), seeded(3, 130, 'second')];
    const parts = [matrixOf(first, 130), matrixOf(second, 130)];
    const result = await int8Of(parts, checkpoint, new WrittenTensors(folder));
    expect(result).toEqual(plainInt8(Float32Array.of(...first, ...second), 130));
  });
});

// An odd number of blocks whose last is not whole: rows of zero points end within a byte.
it('int8 codes of 4-bit weights come from the written matrix, and the checkpoint is not read', async () => {
  const width = 161;
  const [gate, up] = [seeded(70, width, 'gate'), seeded(70, width, 'up')];
  const written = new WrittenTensors(folder);
  const blocks = new GraphRecorder();
  const options = { bits: 4, layout: 'matmul', scaleType: 'float32' } as const;
  declareQuantised(blocks, 'both', [matrixOf(gate, width), matrixOf(up, width)], options);
  await write(blocks, written);

  const part: CheckpointTensor = {
    name: 'up',
    shape: [70, width],
    readFloats: () => Promise.reject(new Error('the checkpoint is read again')),
  };
  const result = await int8Of([part], { kind: '4-bit codes', name: 'both', firstRow: 70 }, written);
  const codes = allocateQuantisedRows(70, width, 4);
  quantiseRows4(up, width, codes);
  expect(result).toEqual(plainInt8(dequantiseRows(codes, width, 4), width));
});

function seeded(rows: number, width: number, name: string): Float32Array {
  const values = new Float32Array(rows * width);
  fillSeeded(values, { seed: 1, name, scale: 1 });
  return values;
}
