// Weights that are read into memory, and those that stay mapped in their file.

import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeModel, GraphRecorder, writeWeights } from '@ortler/onnx';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createNativeBackend } from './native-backend.ts';

const COUNT = 3000;
const FILE = 'model.onnx.data';
/** What is added to the index of each element of a weight. */
const WEIGHTS = { first: 1, 'table.a': 10_000, 'table.b': 20_000, last: 30_000 };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-weights-'));
  const graph = new GraphRecorder();
  let sum = graph.input('x', 'float32', [COUNT]);
  for (const [name, offset] of Object.entries(WEIGHTS)) {
    const values = Float32Array.from({ length: COUNT }, (_, i) => i + offset);
    graph.weightGroup({
      tensors: [{ name, type: 'float32', dims: [COUNT] }],
      async *produce() {
        yield [new Uint8Array(values.buffer)];
      },
    });
    sum = graph.op(`/${name}`, 'Add', [sum, name], name === 'last' ? { outputs: ['y'] } : {});
  }
  graph.output('y', 'float32', [COUNT]);
  const file = await open(join(folder, FILE), 'w');
  const placements = await writeWeights(graph, file, { fileName: FILE });
  await file.close();
  await writeFile(join(folder, 'model.onnx'), encodeModel(graph, placements, 'test'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it.each([undefined, ['table'], ['last'], ['first', 'table.b'], ['other']])(
  'computes the same with weights in memory that do not begin with %s',
  async mappedWeights => {
    const backend = createNativeBackend();
    const session = await backend.createSession(join(folder, 'model.onnx'), {
      threadCount: 1,
      spin: false,
      weightsFile: FILE,
      mappedWeights,
    });
    const [x, y] = [new Float32Array(COUNT), new Float32Array(COUNT)];
    const tensor = (data: Float32Array) => backend.createTensor('float32', [COUNT], data);
    await session.bind(new Map([['x', tensor(x)]]), new Map([['y', tensor(y)]])).run();
    session.dispose();
    const offsets = Object.values(WEIGHTS).reduce((sum, offset) => sum + offset, 0);
    expect(y).toEqual(Float32Array.from({ length: COUNT }, (_, i) => 4 * i + offsets));
  },
);
