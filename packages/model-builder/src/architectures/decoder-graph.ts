// The decoder graph: the order of blocks, shared by all architectures and precisions.

import { attention, attentionOutput, declareAttention } from '../blocks/attention.ts';
import type { BlockContext } from '../blocks/block-context.ts';
import { embedding } from '../blocks/embedding.ts';
import { lmHead, selectRows } from '../blocks/lm-head.ts';
import { mlp } from '../blocks/mlp.ts';
import { addAndRmsNorm, rmsNorm } from '../blocks/rms-norm.ts';
import { rotaryTables } from '../blocks/rotary.ts';
import { DYNAMIC_DIMS, SHARED_INPUT } from '../blocks/variant.ts';
import { ModelBuildError } from '../errors.ts';
import { checkExtent } from './check-extent.ts';
import { hasNoEffect } from './ignored-tensors.ts';

/**
 * Records the complete graph of the variants `slots` and `paged`.
 * ```
 *   embedding -> [ norm -> attention -> + -> norm -> mlp -> + ] per layer -> norm -> lm_head
 * ```
 * In the last layer everything after the attention runs on the rows of `logit_rows` only, because nothing later reads the
 * other rows.
 *
 * Throws: `tensor_missing`, `tensor_mismatch`, `unsupported` for tensors that contradict `config.json` or that it does not
 * imply, and for head sizes that the variant's attention does not support.
 */
export function recordDecoderGraph(context: BlockContext): void {
  const { graph, config, variant } = context;
  checkHeadSize(context);
  checkExtent(context);
  for (const { name, type, dims } of variant.inputs) graph.input(name, type, dims);
  graph.input(SHARED_INPUT.logitRows, 'int64', [DYNAMIC_DIMS.rows]);

  rotaryTables(graph, config, variant.activation);
  declareAttention(context);
  const { value, table } = embedding(context, SHARED_INPUT.inputIds);
  let residual = value;
  let normed = rmsNorm(context, inputNorm(0), residual, inputNormWeight(0), config.hiddenSize);

  for (let layer = 0; layer < config.layerCount; layer++) {
    const isLast = layer === config.layerCount - 1;
    let attended = attention(context, layer, normed);
    if (isLast) {
      const path = `/model/layers.${layer}/logit_rows`;
      attended = selectRows(context, `${path}/attention`, attended, config.headCount * config.headSize);
      residual = selectRows(context, `${path}/residual`, residual, config.hiddenSize);
    }
    const update = attentionOutput(context, layer, attended);
    const norm = `layers.${layer}.post_attention_layernorm`;
    const middle = addAndRmsNorm(context, `/model/${norm}`, residual, update, `model.${norm}.weight`);
    const output = mlp(context, layer, middle.normed);
    const next = isLast
      ? addAndRmsNorm(context, '/model/norm', middle.residual, output, 'model.norm.weight')
      : addAndRmsNorm(context, inputNorm(layer + 1), middle.residual, output, inputNormWeight(layer + 1));
    ({ normed, residual } = next);
  }
  lmHead(context, normed, table);
  context.checkpoint.checkAllUsed(hasNoEffect);
}

/** Throws: `unsupported`. */
function checkHeadSize({ variant, config }: BlockContext): void {
  if (config.headSize <= variant.largestHeadSize) return;
  const message = `heads of ${config.headSize} elements are not built as "${variant.name}", which has at most ${variant.largestHeadSize}`;
  throw new ModelBuildError('unsupported', message, { key: 'head_dim' });
}

function inputNorm(layer: number): string {
  return `/model/layers.${layer}/input_layernorm`;
}

function inputNormWeight(layer: number): string {
  return `model.layers.${layer}.input_layernorm.weight`;
}
