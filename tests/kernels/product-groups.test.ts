// Products with groups: each group has the bits of a product of its own, in any company, with any number of threads and on any
// instruction set.

import { WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import { type AttributeValue, int, ints } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { Random } from '../support/random.ts';
import { INSTRUCTION_SETS } from './instruction-sets.ts';
import {
  floatConstant,
  type OperatorGraph,
  type OperatorOptions,
  OperatorSession,
} from './operator-session.ts';
import { plainProduct, productGraph } from './product-operator.ts';
import { randomMatrix } from './random-matrix.ts';

const FORMATS = Object.keys(WEIGHT_FORMATS) as WeightFormat[];

interface Shape {
  readonly format: WeightFormat;
  readonly count: number;
  readonly inputs: number;
  /** Of a group. */
  readonly outputs: number;
  readonly start: number;
  readonly step: number;
}

const PLAIN: Shape = { format: 'q4', count: 3, inputs: 40, outputs: 32, start: 0, step: 40 };

/** A graph with groups, and graphs of each group alone. */
function graphsOf({ format, count, inputs, outputs, start, step }: Shape) {
  const random = new Random(7);
  const matrices = Array.from({ length: count }, () => randomMatrix({ format, outputs, inputs }, random));
  const shape = { ...plainProduct(format, count * outputs, inputs), activationBits: 16 } as const;
  const tiles = [Buffer.concat(matrices.map(matrix => matrix.tiles))];
  const graph = productGraph(shape, { tiles });
  const attributes = {
    ...graph.attributes,
    groups: int(count),
    group_step: int(step),
    group_start: int(start),
  };
  const alone = matrices.map(matrix =>
    productGraph({ ...shape, parts: [{ format, outputs }] }, { tiles: [matrix.tiles] }),
  );
  return { grouped: { ...graph, attributes } satisfies OperatorGraph, alone };
}

async function run(
  graph: OperatorGraph,
  x: Float32Array,
  sizes: readonly [number, number],
  options: OperatorOptions,
) {
  const [width, columns] = sizes;
  const rows = x.length / width;
  const y = new Float32Array(rows * columns);
  using session = await OperatorSession.create(graph, options);
  await session.run(
    { x: { type: 'float32', shape: [rows, width], data: x } },
    { y: { type: 'float32', shape: [rows, columns], data: y } },
  );
  return y;
}

const columnsOf = (x: Float32Array, width: number, first: number, count: number) =>
  x.filter((_, i) => i % width >= first && i % width < first + count);

describe.each(INSTRUCTION_SETS)('Product with groups on %s', isa => {
  it.each([
    ...FORMATS.map(format => ({ ...PLAIN, format })),
    { ...PLAIN, start: 7, step: 50, inputs: 33 },
    { ...PLAIN, count: 1, start: 64, step: 128, inputs: 64 },
    { ...PLAIN, format: 'q8' as const, count: 20, inputs: 128, outputs: 64, start: 16, step: 144 },
  ])('gives what each group gives alone with %o', async shape => {
    const { grouped, alone } = graphsOf(shape);
    const { count, inputs, outputs, start, step } = shape;
    for (const rows of [1, 2, 5, 19]) {
      const x = new Random(rows).floats(rows * count * step, 2);
      const y = await run(grouped, x, [count * step, count * outputs], { isa });
      for (const [group, graph] of alone.entries()) {
        const own = columnsOf(x, count * step, group * step + start, inputs);
        const expected = await run(graph, own, [inputs, outputs], { isa });
        expect(columnsOf(y, count * outputs, group * outputs, outputs)).toEqual(expected);
      }
    }
  });

  it('has the same bits with 1, 2 and 3 threads', async () => {
    const { grouped } = graphsOf({ ...PLAIN, count: 16, inputs: 192, outputs: 512, step: 200, start: 8 });
    const x = new Random(1).floats(9 * 16 * 200, 2);
    const results = await Promise.all(
      [1, 2, 3].map(threadCount => run(grouped, x, [16 * 200, 16 * 512], { isa, threadCount })),
    );
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });
});

describe('a Product with groups is refused', () => {
  const { grouped } = graphsOf(PLAIN);
  const create = (graph: OperatorGraph) => OperatorSession.create(graph, { isa: INSTRUCTION_SETS[0]! });

  it.each<readonly [Record<string, AttributeValue>, RegExp]>([
    [{ groups: int(-1) }, /groups must be 0 to 2\^16/],
    [{ groups: int(5) }, /whole tiles of outputs/],
    [{ group_step: int(39) }, /lie within their steps/],
    [{ group_start: int(1) }, /lie within their steps/],
    [{ group_start: int(-1) }, /lie within their steps/],
    [{ gated: int(1) }, /no gates and no norm/],
    [{ outputs: ints([90]) }, /whole tiles of outputs/],
  ])('with attributes %o', async (attributes, message) => {
    const changed = { ...grouped, attributes: { ...grouped.attributes, ...attributes } };
    await expect(create(changed)).rejects.toThrow(message);
  });

  it('with a norm', async () => {
    const inputs = grouped.inputs.with(4, floatConstant('norm', [40], new Float32Array(40)));
    await expect(create({ ...grouped, inputs })).rejects.toThrow(/no gates and no norm/);
  });

  it('in calls with the inputs of one group', async () => {
    const x = new Float32Array(40);
    await expect(run(grouped, x, [40, 96], { isa: INSTRUCTION_SETS[0]! })).rejects.toThrow(
      /with groups those of all/,
    );
  });
});
