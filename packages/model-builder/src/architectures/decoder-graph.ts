// The decoder graph of ONNX Runtime's operators: the order of blocks, shared by all architectures and precisions.

import { attention, attentionOutput, declareAttention } from '../blocks/attention.ts';
import type { BlockContext } from '../blocks/block-context.ts';
import { embedding } from '../blocks/embedding.ts';
import { lmHead, selectRows } from '../blocks/lm-head.ts';
import { mlp } from '../blocks/mlp.ts';
import { norm } from '../blocks/norm.ts';
import { declarePositions } from '../blocks/positions.ts';
import { declareQueryScale } from '../blocks/query-scale.ts';
import { addUpdate, type Stream } from '../blocks/residual-stream.ts';
import { declareRotaryTables } from '../blocks/rotary.ts';
import { DYNAMIC_DIMS, SHARED_INPUT } from '../blocks/variant.ts';
import { ModelBuildError } from '../errors.ts';
import { type DecoderConfig, readsPositions } from '../hugging-face/decoder-config.ts';
import { layerNorm, nextNorm } from './placed-norms.ts';

/**
 * Records the complete graph of the variants `slots` and `paged`.
 * ```
 *   embedding -> [ norm -> attention -> norm -> + -> norm -> mlp -> norm -> + ] per layer -> norm -> lm_head
 * ```
 * A model has some of these norms. In the last layer everything after the attention runs on the rows of `logit_rows` only,
 * because nothing later reads the other rows.
 *
 * Throws: `tensor_missing`, `tensor_mismatch`, `unsupported` for tensors that contradict `config.json` or that it does not
 * imply, and for what the variant's attention does not support.
 */
export function recordDecoderGraph(context: BlockContext): void {
  const { graph, config, variant, weights } = context;
  checkVariant(context);
  weights.checkExtent();
  for (const { name, type, dims } of variant.inputs) graph.input(name, type, dims);
  graph.input(SHARED_INPUT.logitRows, 'int64', [DYNAMIC_DIMS.rows]);

  declareRotaryTables(graph, config, variant.activation);
  declareAttention(context);
  if (readsPositions(config)) declarePositions(graph);
  declareQueryScale(context);
  const { value, table } = embedding(context, SHARED_INPUT.inputIds);
  const first = layerNorm(weights, 0, 'beforeAttention');
  let stream: Stream = {
    residual: value,
    normed: first === undefined ? value : norm(context, first.path, value, first.weights),
  };
  for (let layer = 0; layer < config.layerCount; layer++) stream = decoderLayer(context, layer, stream);
  lmHead(context, stream.normed, table);
  weights.checkAllUsed();
}

function decoderLayer(context: BlockContext, layer: number, stream: Stream): Stream {
  const { config, weights } = context;
  const path = `/model/layers.${layer}`;
  let attended = attention(context, layer, stream.normed);
  let { residual, normed } = stream;
  if (layer === config.layerCount - 1) {
    const select = (name: string, rows: string, size: number) =>
      selectRows(context, `${path}/logit_rows/${name}`, rows, size);
    attended = select('attention', attended, config.headCount * config.headSize);
    residual = select('residual', residual, config.hiddenSize);
    if (config.isParallel) normed = select('normed', normed, config.hiddenSize);
  }
  const update = attentionOutput(context, layer, attended);
  const next = nextNorm(weights, config, layer);
  if (config.isParallel) {
    const both = context.graph.op(`${path}/Add`, 'Add', [update, mlp(context, layer, normed)]);
    return addUpdate(context, `${path}/mlp`, { residual, update: both, ownNorm: undefined, next });
  }
  const middle = addUpdate(context, `${path}/attn`, {
    residual,
    update,
    ownNorm: layerNorm(weights, layer, 'afterAttention'),
    next: layerNorm(weights, layer, 'beforeMlp'),
  });
  return addUpdate(context, `${path}/mlp`, {
    residual: middle.residual,
    update: mlp(context, layer, middle.normed),
    ownNorm: layerNorm(weights, layer, 'afterMlp'),
    next,
  });
}

/** Throws: `unsupported`. */
function checkVariant({ variant, config }: BlockContext): void {
  if (config.headSize > variant.largestHeadSize) {
    const message = `heads of ${config.headSize} elements are not built as "${variant.name}", which has at most ${variant.largestHeadSize}`;
    throw new ModelBuildError('unsupported', message, { key: 'head_dim' });
  }
  const fault = variant.name === 'paged' ? pagedFault(config) : undefined;
  if (fault === undefined) return;
  throw new ModelBuildError('unsupported', `${fault.message}: not built as "paged"`, { key: fault.key });
}

/** What the variant `paged` cannot compute of a model, with its key in config.json. */
export function pagedFault(
  config: DecoderConfig,
): { readonly key: string; readonly message: string } | undefined {
  if (config.attentionSoftcap !== undefined)
    return {
      key: 'attn_logit_softcapping',
      message: 'PagedAttention on WebGPU has no soft cap of attention scores',
    };
  if (config.queryScale !== undefined)
    return {
      key: 'rope_parameters.llama_4_scaling_beta',
      message: 'queries grow with their position, which a graph of packed sequences does not know',
    };
  if (config.queryKeyNorm === 'rotated-head')
    return {
      key: 'model_type',
      message: 'queries and keys have norms behind the rotation, which PagedAttention computes itself',
    };
  const windowed = config.layers.findIndex(({ window }) => window !== undefined);
  if (windowed < 0) return undefined;
  return {
    key: 'sliding_window',
    message: `layer ${windowed} has a window, which PagedAttention of ONNX Runtime 1.30 ignores on WebGPU`,
  };
}
