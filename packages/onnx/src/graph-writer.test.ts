import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { encodeGraph } from './encode-graph.ts';
import { GraphWriter } from './graph-writer.ts';
import { readGraph } from './read-graph.ts';

const folder = temporaryFolder();

function readBack(bytes: Uint8Array) {
  const path = join(folder, 'graph.onnx');
  writeFileSync(path, bytes);
  return readGraph(path);
}

describe('a written graph', () => {
  it('has its nodes in the order of the calls, wired by the values they return', () => {
    const graph = new GraphWriter('test');
    const x = graph.input('x', 'float32', ['n', 2]);
    const sum = graph.add(x, x);
    graph.output('y', graph.cast(sum, 'float16'), 'float16', ['n', 2]);
    const { nodes, inputs, outputs } = readBack(graph.encode());
    expect(nodes.map(({ opType }) => opType)).toEqual(['Add', 'Cast', 'Identity']);
    expect(nodes[0]!.inputs).toEqual(['x', 'x']);
    expect(nodes[1]!.inputs).toEqual(nodes[0]!.outputs);
    expect(nodes[1]!.integers).toEqual(new Map([['to', 10]]));
    expect(nodes[2]!.outputs).toEqual(['y']);
    expect([inputs, outputs].flat()).toEqual([
      { name: 'x', onnxType: 1, dims: ['n', 2] },
      { name: 'y', onnxType: 10, dims: ['n', 2] },
    ]);
  });

  it('stores equal constants once, and those of other types or shapes apart', () => {
    const graph = new GraphWriter('test');
    const one = graph.floats([1]);
    expect(graph.floats([1])).toBe(one);
    const others = [graph.floats([1], [1]), graph.int32([1], [1]), graph.int64(1), graph.floats([2])];
    expect(new Set([one, ...others]).size).toBe(5);
    expect(readBack(graph.encode()).weights.size).toBe(5);
  });

  it('can name the result of a node as output of the graph, without a copy', () => {
    const graph = new GraphWriter('test');
    const x = graph.input('x', 'int32', [1]);
    graph.resultOf('Neg', [x], { name: 'y', type: 'int32', shape: [1] });
    expect(readBack(graph.encode()).nodes).toMatchObject([{ opType: 'Neg', inputs: ['x'], outputs: ['y'] }]);
  });

  it('is the bytes of onnx.proto', () => {
    const bytes = encodeGraph({
      name: 'g',
      inputs: [{ name: 'x', type: 'float32', shape: [1] }],
      outputs: [],
      nodes: [],
    });
    // ModelProto.graph (7) { name (2) 'g', input (11) { name (1) 'x', type (2) { tensor_type (1) { float, shape { 1 } } } } }
    const type = [0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08, 0x01];
    const graph = [0x12, 0x01, 0x67, 0x5a, 0x0f, 0x0a, 0x01, 0x78, ...type];
    expect(Buffer.from(bytes).includes(Buffer.from([0x3a, graph.length, ...graph]))).toBe(true);
  });
});
