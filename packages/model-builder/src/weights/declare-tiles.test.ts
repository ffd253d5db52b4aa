import {
  isSuperBlockFormat,
  matrixBytes,
  type QuantisedFormat,
  WEIGHT_FORMATS,
  type WeightFormat,
} from '@ortler/kernels';
import { GraphRecorder } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { unpackTiles, weightBytes } from '../../test/unpack-tiles.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { fillSeeded } from '../testing/seeded-weights.ts';
import { declareTiles, type TiledMatrix } from './declare-tiles.ts';

/** Those that values are fitted to. */
const FORMATS = (Object.keys(WEIGHT_FORMATS) as WeightFormat[]).filter(format => !isSuperBlockFormat(format));
const QUANTISED = FORMATS.filter((name): name is QuantisedFormat => name !== 'f32');

interface Matrix {
  readonly tensor: CheckpointTensor;
  readonly values: Float32Array;
}

function matrix(name: string, outputs: number, inputs: number): Matrix {
  const values = new Float32Array(outputs * inputs);
  fillSeeded(values, { seed: 5, name, scale: 1 });
  const readFloats = async (from: number, target: Float32Array) =>
    target.set(values.subarray(from, from + target.length));
  return { tensor: { name, shape: [outputs, inputs], readFloats }, values };
}

async function pack(
  tensors: readonly CheckpointTensor[],
  format: WeightFormat,
): Promise<{ readonly declared: TiledMatrix; readonly bytes: Uint8Array; readonly rows: Float64Array[] }> {
  const graph = new GraphRecorder();
  const declared = declareTiles(graph, 'm', tensors, { format });
  const bytes = (await weightBytes(graph)).get('m')!;
  expect(graph.weights[0]!.tensors).toEqual([{ name: 'm', type: 'uint8', dims: [bytes.length] }]);
  const { inputs } = declared;
  const whole = bytes.length / matrixBytes(format, 16, inputs);
  const shape = { format: WEIGHT_FORMATS[format].number, outputs: 16 * whole, inputs };
  return { declared, bytes, rows: unpackTiles(bytes, shape) };
}

/** A step and a half of a code where values are in [-1, 1], as ends may be clipped, and the rounding of scale and minimum. */
function tolerance(format: QuantisedFormat): number {
  return 3 / (2 ** WEIGHT_FORMATS[format].bits - 1) + 2 ** -9;
}

describe('float32 tiles', () => {
  it.each([
    [16, 32],
    [20, 40],
    [1, 5],
  ])('hold a matrix of %d outputs and %d inputs exactly, and zeros after it', async (outputs, inputs) => {
    const { tensor, values } = matrix('a', outputs, inputs);
    const { declared, rows } = await pack([tensor], 'f32');
    expect(declared).toEqual({ name: 'm', format: 'f32', inputs, outputs });
    expect(rows.length).toBe(16 * Math.ceil(outputs / 16));
    for (const [output, row] of rows.entries()) {
      expect(row.length).toBe(32 * Math.ceil(inputs / 32));
      for (const [input, value] of row.entries()) {
        const isThere = output < outputs && input < inputs;
        expect(value).toBe(isThere ? values[output * inputs + input]! : 0);
      }
    }
  });

  it('are the same however many are made at a time', async () => {
    // Three pieces of about 1 MiB.
    const { tensor, values } = matrix('large', 1300, 512);
    const { rows } = await pack([tensor], 'f32');
    const joined = rows.slice(0, 1300).flatMap(row => [...row]);
    expect(Float32Array.from(joined)).toEqual(values);
  });
});

describe.each(QUANTISED)('tiles in %s', format => {
  it('hold each value within a step, zeros in rows after the last one, and have the size of whole tiles', async () => {
    const [outputs, inputs] = [20, 72];
    const { tensor, values } = matrix('a', outputs, inputs);
    const { declared, bytes, rows } = await pack([tensor], format);
    expect(declared).toEqual({ name: 'm', format, inputs, outputs });
    expect(bytes.length).toBe(matrixBytes(format, outputs, inputs));
    for (const [output, row] of rows.entries()) {
      if (output >= outputs) {
        expect(row.every(value => value === 0)).toBe(true);
        continue;
      }
      for (const [input, value] of row.subarray(0, inputs).entries())
        expect(Math.abs(value - values[output * inputs + input]!)).toBeLessThan(tolerance(format));
    }
  });

  it('are the same however many are made at a time', async () => {
    const { tensor } = matrix('large', 4500, 512);
    const { rows, bytes } = await pack([tensor], format);
    expect(bytes.length).toBeGreaterThan(2 ** 20);
    for (const first of [0, 992, 2096, 3328, 4480]) {
      const readFloats = (from: number, target: Float32Array) =>
        tensor.readFloats(first * 512 + from, target);
      const tile = await pack([{ name: 'tile', shape: [16, 512], readFloats }], format);
      expect(rows.slice(first, first + 16)).toEqual(tile.rows);
    }
  });

  it('refuses values beyond float16 with the name of the matrix', async () => {
    const { tensor, values } = matrix('model.huge', 16, 32);
    values.fill(1e9, 0, 3);
    await expect(pack([tensor], format)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('model.huge'),
    });
  });
});

it.each(FORMATS)('tiles of gates and ups alternate in %s', async format => {
  const [outputs, inputs] = [40, 32];
  const [gate, up] = [matrix('gate', outputs, inputs), matrix('up', outputs, inputs)];
  const { declared, rows } = await pack([gate.tensor, up.tensor], format);
  expect(declared.outputs).toBe(2 * outputs);
  // 40 outputs are three tiles of each.
  expect(rows.length).toBe(96);
  const alone = [(await pack([gate.tensor], format)).rows, (await pack([up.tensor], format)).rows];
  for (const [row, values] of rows.entries()) {
    const tile = Math.floor(row / 16);
    expect(values).toEqual(alone[tile % 2]![16 * Math.floor(tile / 2) + (row % 16)]);
  }
});
