import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { totalWeightBytes, writeWeights } from './external-data.ts';
import { GraphRecorder } from './graph.ts';

const folder = temporaryFolder();
let fileCount = 0;

interface Circumstances {
  readonly signal?: AbortSignal;
}

async function write(graph: GraphRecorder, { signal }: Circumstances = {}) {
  const path = join(folder, `${fileCount++}.data`);
  const file = await open(path, 'wx');
  let reported = 0;
  const onBytes = (bytes: number) => {
    reported += bytes;
  };
  const options = { fileName: 'x.data', onBytes, signal };
  const placements = await writeWeights(graph, file, options).finally(() => file.close());
  return { placements, reported, content: await readFile(path) };
}

/** A graph with one group of two tensors, filled in turns. */
function twoTensors(partSizes: readonly (readonly [number, number])[]): GraphRecorder {
  const graph = new GraphRecorder();
  graph.weightGroup({
    tensors: [
      { name: 'a', type: 'uint8', dims: [5000] },
      { name: 'b', type: 'uint8', dims: [3, 1000] },
    ],
    async *produce() {
      for (const [a, b] of partSizes) yield [new Uint8Array(a).fill(1), new Uint8Array(b).fill(2)];
    },
  });
  return graph;
}

it('gives each tensor of a group its own pages and fills them in turns', async () => {
  const { placements, content, reported } = await write(
    twoTensors([
      [4000, 500],
      [1000, 2500],
    ]),
  );
  expect(placements.get('a')).toEqual({ kind: 'external', file: 'x.data', offset: 0, length: 5000 });
  expect(placements.get('b')).toEqual({ kind: 'external', file: 'x.data', offset: 8192, length: 3000 });
  expect([...new Set(content.subarray(0, 5000))]).toEqual([1]);
  expect([...new Set(content.subarray(5000, 8192))]).toEqual([0]);
  expect([...new Set(content.subarray(8192))]).toEqual([2]);
  expect(reported).toBe(8000);
});

it('reports as many bytes as it announced', async () => {
  const graph = twoTensors([[5000, 3000]]);
  graph.constant('shape', 'int64', [1, 2]);
  expect((await write(graph)).reported).toBe(totalWeightBytes(graph));
});

it('keeps small tensors out of the data file', async () => {
  const graph = new GraphRecorder();
  graph.constant('shape', 'int64', [-1, 64]);
  const { placements, content } = await write(graph);
  const bytes = new Uint8Array(BigInt64Array.of(-1n, 64n).buffer);
  expect(placements.get('shape')).toEqual({ kind: 'inline', bytes });
  expect(content.length).toBe(0);
});

it('refuses a producer that gives too little or too much', async () => {
  await expect(write(twoTensors([[5000, 2999]]))).rejects.toThrow('b is incomplete');
  await expect(write(twoTensors([[5001, 3000]]))).rejects.toThrow('a is too long');
});

it('stops when the signal fires', async () => {
  const reason = new Error('stopped');
  await expect(write(twoTensors([[5000, 3000]]), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});
