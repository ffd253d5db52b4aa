// The embedding lookup of the kernels: rows of a matrix in tiles, exactly.

import { matrixBytes, WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import { int } from '@ortler/onnx';
import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import { Random } from '../support/random.ts';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import { type OperatorGraph, type OperatorOptions, OperatorSession } from './operator-session.ts';
import { type MatrixShape, randomMatrix } from './random-matrix.ts';

const FORMATS = Object.keys(WEIGHT_FORMATS) as WeightFormat[];

function embeddingGraph({ format, outputs, inputs }: MatrixShape, tiles: Uint8Array): OperatorGraph {
  return {
    opType: 'Embedding',
    inputs: [
      { name: 'ids', type: 'int64', shape: [0, 0] },
      { name: 'weights', type: 'uint8', shape: [tiles.length], content: tiles },
    ],
    outputs: [{ name: 'y', type: 'float32', rank: 3 }],
    attributes: { inputs: int(inputs), outputs: int(outputs), format: int(WEIGHT_FORMATS[format].number) },
  };
}

async function lookUp(
  session: OperatorSession,
  ids: readonly number[],
  inputs: number,
): Promise<Float32Array> {
  const y = new Float32Array(ids.length * inputs);
  await session.run(
    { ids: { type: 'int64', shape: [1, ids.length], data: BigInt64Array.from(ids, BigInt) } },
    { y: { type: 'float32', shape: [1, ids.length, inputs], data: y } },
  );
  return y;
}

describe.each(INSTRUCTION_SETS)('Embedding on %s', isa => {
  it.each(FORMATS)('gives the numbers of a matrix in %s exactly', async format => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 600 }),
        fc.nat(),
        async (outputs, inputs, seed) => {
          const matrix = randomMatrix({ format, outputs, inputs }, new Random(seed));
          using session = await OperatorSession.create(embeddingGraph(matrix, matrix.tiles), { isa });
          const ids = Array.from({ length: outputs }, (_, i) => outputs - 1 - i);
          const expected = ids.flatMap(id => [...matrix.values.slice(id * inputs, (id + 1) * inputs)]);
          expect(await lookUp(session, ids, inputs)).toEqual(Float32Array.from(expected));
        },
      ),
      { numRuns: runs({ daily: 5, full: 20 }) },
    );
  });
});

describe('Embedding', () => {
  const options: OperatorOptions = { isa: INSTRUCTION_SETS[0]! };
  const matrix = randomMatrix({ format: 'q6', outputs: 20, inputs: 40 }, new Random(1));

  it.each([-1, 20, 2 ** 40])('refuses the id %d, which lies outside the vocabulary', async id => {
    using session = await OperatorSession.create(embeddingGraph(matrix, matrix.tiles), options);
    await expect(lookUp(session, [0, id], 40)).rejects.toThrow(
      'Embedding: an id lies outside the vocabulary.',
    );
    expect(await lookUp(session, [19], 40)).toEqual(Float32Array.from(matrix.values.slice(19 * 40)));
  });

  it.each([
    ['weights of another size', { outputs: int(33) }, /weights must be a constant of the size/],
    ['an unknown format', { format: int(10) }, /inputs, outputs and format must be given/],
    ['no inputs', { inputs: int(0) }, /inputs, outputs and format must be given/],
  ])('refuses a graph with %s', async (_case, attributes, message) => {
    const graph = embeddingGraph(matrix, matrix.tiles);
    const wrong = { ...graph, attributes: { ...graph.attributes, ...attributes } };
    await expect(OperatorSession.create(wrong, options)).rejects.toThrow(message);
  });

  it('refuses weights that are not constant', async () => {
    const graph = embeddingGraph(matrix, matrix.tiles);
    const weights = { name: 'weights', type: 'uint8', shape: [matrixBytes('q6', 20, 40)] } as const;
    const wrong = { ...graph, inputs: [graph.inputs[0]!, weights] };
    await expect(OperatorSession.create(wrong, options)).rejects.toThrow(/weights must be a constant/);
  });
});
