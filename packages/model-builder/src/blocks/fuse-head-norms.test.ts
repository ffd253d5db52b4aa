import { float, type GraphNode, GraphRecorder, int, MICROSOFT } from '@ortler/onnx';
import { describe, expect, it } from 'vitest';
import { fuseHeadNorms } from './fuse-head-norms.ts';

const TOKENS = 'token_count';
const [HEADS, KV_HEADS, HEAD_SIZE] = [4, 2, 16];
const WIDTH = (HEADS + 2 * KV_HEADS) * HEAD_SIZE;

interface Change {
  /** Elements of the weights of a norm. Default: a head's. */
  readonly normSize?: number;
  readonly keyEpsilon?: number;
  readonly epsilon?: number;
  readonly axis?: number;
  /** A value that one more operator reads. */
  readonly alsoRead?: string;
  /** Default: true. */
  readonly normsKeys?: boolean;
  /** Queries, keys and values are parts of one product. Default: true. */
  readonly isPacked?: boolean;
  readonly doRotary?: number;
}

/** One layer as the builder records it. */
function layer(change: Change = {}): GraphRecorder {
  const { normSize = HEAD_SIZE, epsilon = 1e-6, keyEpsilon = epsilon, axis = -1, normsKeys = true } = change;
  const graph = new GraphRecorder();
  const parts = ['query', 'key', 'value'];
  if (change.isPacked ?? true) {
    graph.input('packed', 'float16', [TOKENS, WIDTH]);
    graph.constant('lengths', 'int64', [HEADS * HEAD_SIZE, KV_HEADS * HEAD_SIZE, KV_HEADS * HEAD_SIZE]);
    graph.op('/Split', 'Split', ['packed', 'lengths'], { attributes: { axis: int(-1) }, outputs: parts });
  } else for (const part of parts) graph.input(part, 'float16', [TOKENS, `${part}_width`]);
  for (const part of ['key_cache', 'value_cache'])
    graph.input(part, 'float16', ['blocks', 32, KV_HEADS, HEAD_SIZE]);
  graph.input('bounds', 'int32', [3]);
  const normed = (name: string, heads: number, own: number) => {
    graph.constant(`${name}_norm.weight`, 'float16', Array<number>(normSize).fill(1));
    graph.constant(`${name}_apart`, 'int64', [0, heads, HEAD_SIZE]);
    graph.constant(`${name}_joined`, 'int64', [0, heads * HEAD_SIZE]);
    const apart = graph.op(`/${name}_norm/Reshape_1`, 'Reshape', [name, `${name}_apart`]);
    const scaled = graph.op(
      `/${name}_norm/Norm`,
      'SimplifiedLayerNormalization',
      [apart, `${name}_norm.weight`],
      {
        attributes: { axis: int(axis), epsilon: float(own) },
      },
    );
    return graph.op(`/${name}_norm/Reshape_2`, 'Reshape', [scaled, `${name}_joined`]);
  };
  const query = normed('query', HEADS, epsilon);
  const key = normsKeys ? normed('key', KV_HEADS, keyEpsilon) : 'key';
  const caches = ['key_cache', 'value_cache'];
  const others = ['', '', '', '', '', '', '', '', '', '', '', 'bounds'];
  graph.op('/PagedAttention', 'PagedAttention', [query, key, 'value', ...caches, ...others], {
    domain: MICROSOFT,
    attributes: { num_heads: int(HEADS), kv_num_heads: int(KV_HEADS), do_rotary: int(change.doRotary ?? 1) },
    outputs: ['output', 'key_out', 'value_out'],
  });
  if (change.alsoRead !== undefined) {
    const other = graph.op('/Other', 'Identity', [change.alsoRead]);
    graph.output(other, 'float16', [TOKENS, 1]);
  }
  graph.output('output', 'float16', [TOKENS, HEADS * HEAD_SIZE]);
  return graph;
}

const typesOf = ({ nodes }: GraphRecorder) => nodes.map(({ opType }) => opType);

function attentionOf({ nodes }: GraphRecorder): GraphNode {
  return nodes.find(({ opType }) => opType === 'PagedAttention')!;
}

describe('fuseHeadNorms', () => {
  it('gives the attention the product itself, the weights of both norms and their epsilon', () => {
    const graph = layer({ epsilon: 1e-5 });
    const fused = fuseHeadNorms(graph)!;
    expect(typesOf(fused)).toEqual(['PagedAttention']);
    const { inputs, outputs, attributes } = attentionOf(fused);
    expect(inputs.slice(0, 5)).toEqual(['packed', '', '', 'key_cache', 'value_cache']);
    expect(inputs.slice(5)).toEqual([
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      'query_norm.weight',
      'key_norm.weight',
      '',
      '',
      'bounds',
    ]);
    expect(outputs).toEqual(attentionOf(graph).outputs);
    expect(attributes).toEqual({ ...attentionOf(graph).attributes, qk_norm_epsilon: float(1e-5) });
  });

  it('keeps inputs, outputs and the weights that are still read', () => {
    const graph = layer();
    const fused = fuseHeadNorms(graph)!;
    expect([fused.inputs, fused.outputs]).toEqual([graph.inputs, graph.outputs]);
    const names = fused.weights.flatMap(({ tensors }) => tensors.map(({ name }) => name));
    expect(names).toEqual(['query_norm.weight', 'key_norm.weight']);
  });

  it('leaves the given graph as it is', () => {
    const graph = layer();
    fuseHeadNorms(graph);
    expect(graph.nodes).toEqual(layer().nodes);
  });

  it('takes the three products where they are apart', () => {
    const fused = fuseHeadNorms(layer({ isPacked: false }))!;
    expect(typesOf(fused)).toEqual(['PagedAttention']);
    expect(attentionOf(fused).inputs.slice(0, 3)).toEqual(['query', 'key', 'value']);
  });

  it('keeps the parts of a product that another operator reads too', () => {
    const fused = fuseHeadNorms(layer({ alsoRead: 'value' }))!;
    expect(typesOf(fused)).toEqual(['Split', 'PagedAttention', 'Identity']);
    expect(attentionOf(fused).inputs.slice(0, 3)).toEqual(['query', 'key', 'value']);
  });

  it('takes norms of layers without rotation', () => {
    expect(typesOf(fuseHeadNorms(layer({ doRotary: 0 }))!)).toEqual(['PagedAttention']);
  });

  it.each([
    ['a norm of queries alone', { normsKeys: false }],
    ['norms over something else than a head', { normSize: 2 * HEAD_SIZE }],
    ['norms with an epsilon of their own each', { keyEpsilon: 1e-5 }],
    ['an epsilon of zero, which the kernel refuses', { epsilon: 0 }],
    ['norms over another axis', { axis: 0 }],
    ['normed queries that another operator reads', { alsoRead: '/query_norm/Reshape_2/output_0' }],
    ['normed heads that another operator reads', { alsoRead: '/key_norm/Norm/output_0' }],
  ] as const)('leaves %s to operators of their own', (_, change) => {
    expect(fuseHeadNorms(layer(change))).toBeUndefined();
  });
});
