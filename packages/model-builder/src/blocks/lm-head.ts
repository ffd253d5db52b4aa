// The LM head: logits over the vocabulary for the requested rows.

import { SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { ELEMENT_TYPES, type GraphRecorder, int } from '@ortler/onnx';
import { declareFloats, declareQuantised } from '../weights/declare-weights.ts';
import { type BlockContext, weightBits } from './block-context.ts';
import { int8MatMul, quantiseActivations } from './dynamic-int8-matmul.ts';
import { EMBEDDING_WEIGHT, TABLE_BITS } from './embedding.ts';
import { type Matrix, multiply } from './linear.ts';
import { DYNAMIC_DIMS, SHARED_INPUT } from './variant.ts';

/** Weight name of the output matrix when it is not the embedding table. */
export const LM_HEAD_WEIGHT = 'lm_head.weight';

/**
 * Gathers the positions of `logit_rows`.
 * ```
 *   slots: input [batch, length, size] -> Reshape [batch * length, size] -> Gather (logit_rows) -> [rowCount, size]
 *   paged: input [tokens, size]                                          -> Gather (logit_rows) -> [rowCount, size]
 * ```
 */
export function selectRows(
  { graph, variant }: BlockContext,
  path: string,
  input: string,
  size: number,
): string {
  let rows = input;
  if (variant.positionRank > 1) {
    const shape = graph.constant(`${path}/rows_shape`, 'int64', [-1, size]);
    rows = graph.op(`${path}/Reshape`, 'Reshape', [input, shape]);
  }
  return graph.op(`${path}/Gather`, 'Gather', [rows, SHARED_INPUT.logitRows]);
}

/**
 * Whether the output matrix is W8A8 (dynamic int8): in q8 and q4 builds for the CPU. It is the largest matrix, has 8 bits in
 * both, and weight-only 8-bit blocks take two to three times as long for the rows of many sequences (ADR 28).
 */
export function hasInt8Head({ variant, precision }: Pick<BlockContext, 'variant' | 'precision'>): boolean {
  return variant.activation === 'float32' && weightBits(precision) !== undefined;
}

/**
 * ```
 *   input [rowCount, hidden] -> MatMul -> logits [rowCount, vocab]
 * ```
 * A tied output matrix is the embedding table itself, except in W8A8, which needs its codes in another layout. Logits are
 * float32 in both variants: the spacing of float16 at 20 is 0.016, more than all earlier rounding errors. With quantised
 * weights the product is computed in float32.
 */
export function lmHead(context: BlockContext, input: string, table: Matrix): void {
  const { graph, config } = context;
  if (hasInt8Head(context)) int8Head(context, input);
  else multipliedHead(context, input, config.tiedEmbeddings ? table : separateMatrix(context));
  graph.output(SLOTS_OUTPUT.logits, 'float32', [DYNAMIC_DIMS.rows, config.vocabSize]);
}

function multipliedHead(context: BlockContext, input: string, matrix: Matrix): void {
  const { graph, variant } = context;
  const path = '/lm_head';
  const output = SLOTS_OUTPUT.logits;
  if (variant.activation === 'float32') {
    multiply(context, { path, input, matrix, bias: '', output });
  } else if (matrix.kind === 'quantised') {
    const floatInput = toFloat32(graph, `${path}/input`, input);
    // Constant-folded when the graph is loaded.
    const scales = toFloat32(graph, `${path}/scales`, matrix.matrix.scales);
    const floatMatrix: Matrix = { kind: 'quantised', matrix: { ...matrix.matrix, scales } };
    multiply(context, { path, input: floatInput, matrix: floatMatrix, bias: '', output });
  } else {
    toFloat32(graph, path, multiply(context, { path, input, matrix, bias: '' }), output);
  }
}

function int8Head(context: BlockContext, input: string): void {
  const { graph, checkpoint, config } = context;
  const weight = config.tiedEmbeddings ? EMBEDDING_WEIGHT : LM_HEAD_WEIGHT;
  const tensor = checkpoint.tensor(weight, [config.vocabSize, config.hiddenSize]);
  const path = '/lm_head';
  const { codes, scale } = quantiseActivations(context, path, input);
  const product = int8MatMul(context, {
    path,
    codes,
    name: LM_HEAD_WEIGHT,
    matrices: [tensor],
    source: { kind: 'checkpoint' },
  });
  graph.op(`${path}/Mul`, 'Mul', [product, scale], { outputs: [SLOTS_OUTPUT.logits] });
}

function toFloat32(graph: GraphRecorder, path: string, value: string, output?: string): string {
  const outputs = output === undefined ? {} : { outputs: [output] };
  const attributes = { to: int(ELEMENT_TYPES.float32.onnxType) };
  return graph.op(`${path}/Cast`, 'Cast', [value], { attributes, ...outputs });
}

function separateMatrix({ graph, checkpoint, config, precision, variant }: BlockContext): Matrix {
  const tensor = checkpoint.tensor(LM_HEAD_WEIGHT, [config.vocabSize, config.hiddenSize]);
  const { activation } = variant;
  if (weightBits(precision) === undefined)
    return { kind: 'plain', name: declareFloats(graph, LM_HEAD_WEIGHT, [tensor], activation) };
  const matrix = declareQuantised(graph, LM_HEAD_WEIGHT, [tensor], {
    bits: TABLE_BITS,
    layout: 'matmul',
    scaleType: activation,
  });
  return { kind: 'quantised', matrix };
}
