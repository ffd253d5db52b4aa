// Rewrites a `paged` graph for CUDA: norms of queries and keys become inputs of PagedAttention. ONNX Runtime's CUDA kernel computes them in
// the pass that rotates; the WebGPU kernel refuses the inputs, so graphs are recorded with norms of their own.
// Source: ONNX Runtime 1.30, contrib_ops/cuda/bert/paged_attention_impl.cu (QkNormRotaryTNH) and contrib_ops/cpu/bert/paged_attention_helper.h

import { float, type GraphNode, GraphRecorder } from '@ortler/onnx';

/** Places of PagedAttention's inputs. */
export const PAGED_ATTENTION_INPUT = {
  query: 0,
  key: 1,
  value: 2,
  keyCache: 3,
  queryNorm: 12,
  keyNorm: 13,
} as const;

/** The attribute of the norms' epsilon. Its default in the kernel is 1e-6, and the schema has none, so it is always given. */
const EPSILON = 'qk_norm_epsilon';

/** A norm of heads between a product and the attention: Reshape, SimplifiedLayerNormalization, Reshape. */
interface HeadNorm {
  readonly nodes: readonly GraphNode[];
  /** What is normed. Shape: `[tokens, heads * headSize]`. */
  readonly source: string;
  /** Name of the weights. Shape: `[headSize]`. */
  readonly weight: string;
  readonly epsilon: number;
}

/** Who makes and who reads the values of a graph. */
interface GraphUses {
  readonly makers: ReadonlyMap<string, GraphNode>;
  /** Number of operators that read a value; results of the graph count as one more. */
  readonly readerCounts: ReadonlyMap<string, number>;
  readonly dims: ReadonlyMap<string, readonly (number | string)[]>;
}

/**
 * The same computation with norms inside the attention; undefined where no layer has norms that the kernel can compute. It computes RMS
 * norms over single heads before the rotation, in float32, with weights that all heads share. Norms over the whole width and norms
 * after the rotation stay operators. The new graph shares the weights of the old one, and drops those that nothing reads any more.
 *
 * ```
 *   [Split ->] Reshape -> norm -> Reshape -> PagedAttention     becomes     PagedAttention(..., q_norm_weight, k_norm_weight)
 * ```
 * Where queries, keys and values are parts of one product, the attention takes the product itself.
 */
export function fuseHeadNorms(graph: GraphRecorder): GraphRecorder | undefined {
  const uses = findUses(graph);
  const fused = new Map<GraphNode, GraphNode>();
  const removed = new Set<GraphNode>();
  for (const node of graph.nodes) {
    const found = node.opType === 'PagedAttention' ? fuse(node, uses) : undefined;
    if (found === undefined) continue;
    fused.set(node, found.attention);
    for (const other of found.removed) removed.add(other);
  }
  if (fused.size === 0) return undefined;
  const nodes = graph.nodes.filter(node => !removed.has(node)).map(node => fused.get(node) ?? node);
  return withNodes(graph, nodes);
}

function fuse(
  attention: GraphNode,
  uses: GraphUses,
): { readonly attention: GraphNode; readonly removed: readonly GraphNode[] } | undefined {
  const inputs = [...attention.inputs];
  const at = PAGED_ATTENTION_INPUT;
  const query = headNormBefore(inputs[at.query]!, uses);
  const key = headNormBefore(inputs[at.key]!, uses);
  if (query === undefined || key === undefined || query.epsilon !== key.epsilon) return undefined;
  // Both have the size of a head: a norm over something else is another computation.
  const headSize = uses.dims.get(inputs[at.keyCache]!)?.at(-1);
  for (const { weight } of [query, key])
    if (uses.dims.get(weight)?.length !== 1 || uses.dims.get(weight)![0] !== headSize) return undefined;

  const split = splitBefore([query.source, key.source, inputs[at.value]!], uses);
  const sources =
    split === undefined ? [query.source, key.source, inputs[at.value]!] : [split.inputs[0]!, '', ''];
  inputs.splice(at.query, sources.length, ...sources);
  inputs[at.queryNorm] = query.weight;
  inputs[at.keyNorm] = key.weight;
  return {
    attention: {
      ...attention,
      inputs,
      attributes: { ...attention.attributes, [EPSILON]: float(query.epsilon) },
    },
    removed: [...query.nodes, ...key.nodes, ...(split === undefined ? [] : [split])],
  };
}

/** Undefined where another operator reads what is between. */
function headNormBefore(value: string, uses: GraphUses): HeadNorm | undefined {
  const joined = onlyMaker(value, 'Reshape', uses);
  const norm = joined && onlyMaker(joined.inputs[0]!, 'SimplifiedLayerNormalization', uses);
  const apart = norm && onlyMaker(norm.inputs[0]!, 'Reshape', uses);
  if (joined === undefined || norm === undefined || apart === undefined) return undefined;
  const { axis, epsilon } = norm.attributes;
  if (axis?.kind !== 'int' || axis.value !== -1) return undefined;
  // The kernel refuses an epsilon of zero.
  if (epsilon?.kind !== 'float' || !(epsilon.value > 0)) return undefined;
  return {
    nodes: [apart, norm, joined],
    source: apart.inputs[0]!,
    weight: norm.inputs[1]!,
    epsilon: epsilon.value,
  };
}

/** The operator that makes exactly these parts, in this order, where nothing else reads one. */
function splitBefore(parts: readonly string[], uses: GraphUses): GraphNode | undefined {
  const split = onlyMaker(parts[0]!, 'Split', uses);
  const { outputs = [] } = split ?? {};
  const isWhole = outputs.length === parts.length && outputs.every((name, i) => name === parts[i]);
  return isWhole && parts.every(part => uses.readerCounts.get(part) === 1) ? split : undefined;
}

/** The operator that makes the value, of this type, where one operator reads it. */
function onlyMaker(
  value: string,
  opType: string,
  { makers, readerCounts }: GraphUses,
): GraphNode | undefined {
  const maker = makers.get(value);
  return maker?.opType === opType && readerCounts.get(value) === 1 ? maker : undefined;
}

function findUses({ nodes, inputs, outputs, weights }: GraphRecorder): GraphUses {
  const makers = new Map(nodes.flatMap(node => node.outputs.map(name => [name, node] as const)));
  const readerCounts = new Map<string, number>();
  for (const name of [...nodes.flatMap(node => node.inputs), ...outputs.map(output => output.name)])
    readerCounts.set(name, (readerCounts.get(name) ?? 0) + 1);
  const known = [...inputs, ...weights.flatMap(({ tensors }) => tensors)];
  return { makers, readerCounts, dims: new Map(known.map(({ name, dims }) => [name, dims])) };
}

/** The graph with other operators, and those of its weights that they read. */
function withNodes(
  { name, opset, inputs, outputs, weights }: GraphRecorder,
  nodes: readonly GraphNode[],
): GraphRecorder {
  const result = new GraphRecorder({ name, opset });
  const read = new Set(nodes.flatMap(node => node.inputs));
  for (const input of inputs) result.input(input.name, input.type, input.dims);
  for (const group of weights)
    if (group.tensors.some(tensor => read.has(tensor.name))) result.weightGroup(group);
  for (const { path, opType, inputs: given, ...options } of nodes) result.op(path, opType, given, options);
  for (const output of outputs) result.output(output.name, output.type, output.dims);
  return result;
}
