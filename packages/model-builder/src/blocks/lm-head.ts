// The LM head: logits over the vocabulary for the requested rows.

import { SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { ELEMENT_TYPES, type GraphRecorder, int } from '@ortler/onnx';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { declareFloats, declareQuantised } from '../weights/declare-weights.ts';
import { type BlockContext, type GraphContext, weightBits } from './block-context.ts';
import { scaled, softcapped } from './elementwise.ts';
import { TABLE_BITS } from './embedding.ts';
import { type Matrix, multiply } from './linear.ts';
import { DYNAMIC_DIMS, SHARED_INPUT, type Variant } from './variant.ts';

/** Name of the output matrix in graphs when it is not the embedding table. */
export const LM_HEAD_WEIGHT = 'lm_head.weight';

/** The part of a block's context that rows are selected with; the graph of the kernels has no more of it. */
interface RowsContext {
  readonly graph: GraphRecorder;
  readonly variant: Pick<Variant, 'positionRank'>;
}

/**
 * Gathers the positions of `logit_rows`.
 * ```
 *   kernels, slots: input [batch, length, size] -> Reshape [batch * length, size] -> Gather (logit_rows) -> [rowCount, size]
 *   paged:          input [tokens, size]                                          -> Gather (logit_rows) -> [rowCount, size]
 * ```
 */
export function selectRows(
  { graph, variant }: RowsContext,
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
 * ```
 *   input [rowCount, hidden] -> MatMul -> logits [rowCount, vocab]
 * ```
 * A tied output matrix is the embedding table itself, so both share its bytes. Logits are float32 in both variants: the
 * spacing of float16 at 20 is 0.016, more than all earlier rounding errors. With quantised weights the product is computed in
 * float32.
 */
export function lmHead(context: BlockContext, input: string, table: Matrix): void {
  const { graph, config, variant } = context;
  const matrix = config.tiedEmbeddings ? table : separateMatrix(context);
  const path = '/lm_head';
  const output = shapesLogits(config) ? `${path}/product` : SLOTS_OUTPUT.logits;
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
  shapeLogits(context, output);
  graph.output(SLOTS_OUTPUT.logits, 'float32', [DYNAMIC_DIMS.rows, config.vocabSize]);
}

/** Whether logits are scaled or capped after the product. */
export function shapesLogits({ logitScale, logitSoftcap }: DecoderConfig): boolean {
  return logitScale !== 1 || logitSoftcap !== undefined;
}

/** Scales and caps the product; nothing where the model does neither. */
export function shapeLogits(
  { graph, config }: Pick<GraphContext, 'graph' | 'config'>,
  product: string,
): void {
  const { logitScale, logitSoftcap } = config;
  if (!shapesLogits(config)) return;
  const context = { graph, activation: 'float32' } as const;
  const path = '/lm_head';
  if (logitSoftcap === undefined) {
    scaled(context, `${path}/scale`, product, logitScale, SLOTS_OUTPUT.logits);
    return;
  }
  const logits = scaled(context, `${path}/scale`, product, logitScale);
  softcapped(context, `${path}/softcap`, logits, logitSoftcap, SLOTS_OUTPUT.logits);
}

function toFloat32(graph: GraphRecorder, path: string, value: string, output?: string): string {
  const outputs = output === undefined ? {} : { outputs: [output] };
  const attributes = { to: int(ELEMENT_TYPES.float32.onnxType) };
  return graph.op(`${path}/Cast`, 'Cast', [value], { attributes, ...outputs });
}

function separateMatrix({ graph, weights, precision, variant }: BlockContext): Matrix {
  const tensor = weights.head();
  const { activation, blockSize } = variant;
  if (weightBits(precision, [tensor]) === undefined)
    return { kind: 'plain', name: declareFloats(graph, LM_HEAD_WEIGHT, [tensor], activation) };
  const matrix = declareQuantised(graph, LM_HEAD_WEIGHT, [tensor], {
    bits: TABLE_BITS,
    blockSize,
    layout: 'matmul',
    scaleType: activation,
  });
  return { kind: 'quantised', matrix };
}
