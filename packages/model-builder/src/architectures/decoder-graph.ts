// The decoder graph of ONNX Runtime's operators: the order of blocks, shared by all architectures and precisions.

import { type AttentionContext, attention, attentionOutput, declareAttention } from '../blocks/attention.ts';
import type { BlockContext } from '../blocks/block-context.ts';
import { embedding, lookup } from '../blocks/embedding.ts';
import { linear } from '../blocks/linear.ts';
import { lmHead, selectRows } from '../blocks/lm-head.ts';
import { mlp } from '../blocks/mlp.ts';
import { norm } from '../blocks/norm.ts';
import { layerInput, perLayerInputs } from '../blocks/per-layer-input.ts';
import { declarePositions } from '../blocks/positions.ts';
import { declareQueryScale } from '../blocks/query-scale.ts';
import { addUpdate, type Stream, scaleLayer } from '../blocks/residual-stream.ts';
import { declareRotaryTables } from '../blocks/rotary.ts';
import { joinSequence } from '../blocks/sequence-dimension.ts';
import { DYNAMIC_DIMS, SHARED_INPUT } from '../blocks/variant.ts';
import { ModelBuildError } from '../errors.ts';
import { readsPositions } from '../hugging-face/decoder-config.ts';
import { addPerLayerInput } from './add-per-layer-input.ts';
import { layerNorm, nextNorm } from './placed-norms.ts';
import { cacheFault, variantFault } from './variant-fault.ts';

/**
 * Records the complete graph of the variants of ONNX Runtime's operators.
 * ```
 *   embedding -> [ norm -> attention -> norm -> + -> norm -> mlp -> norm -> + ] per layer -> norm -> lm_head
 * ```
 * A model has some of these norms. In the last layer everything after the attention runs on the rows of `logit_rows` only,
 * because nothing later reads the other rows.
 *
 * Throws: `tensor_missing`, `tensor_mismatch`, `unsupported` for tensors that contradict `config.json` or that it does not
 * imply, and for what the variant's attention does not support.
 */
export function recordDecoderGraph(given: BlockContext): void {
  const context: AttentionContext = { ...given, keyValues: new Map() };
  const { graph, config, variant, weights } = context;
  checkVariant(context);
  weights.checkExtent();
  for (const { name, type, dims } of variant.inputs) graph.input(name, type, dims);
  graph.input(SHARED_INPUT.logitRows, 'int64', [DYNAMIC_DIMS.rows]);

  declareRotaryTables(graph, config, variant.activation);
  declareAttention(context);
  if (readsPositions(config)) declarePositions(graph);
  declareQueryScale(context);
  const ids = joinSequence(context, '/model/ids', SHARED_INPUT.inputIds);
  const { value, table } = embedding(context, ids);
  const first = layerNorm(weights, 0, 'beforeAttention');
  let stream: Stream = {
    residual: value,
    normed: first === undefined ? value : norm(context, first.path, value, first.weights),
  };
  const perLayer = perLayerValues(context, ids, value);
  for (let layer = 0; layer < config.layerCount; layer++)
    stream = decoderLayer(context, layer, stream, perLayer);
  lmHead(context, stream.normed, table);
  weights.checkAllUsed();
}

function decoderLayer(
  context: AttentionContext,
  layer: number,
  stream: Stream,
  perLayer: string | undefined,
): Stream {
  const { config, weights } = context;
  const path = `/model/layers.${layer}`;
  let attended = attention(context, layer, stream.normed);
  let { residual, normed } = stream;
  const ranked = { ...context, positionRank: context.variant.positionRank };
  let own = perLayer && layerInput(ranked, layer, perLayer);
  if (layer === config.layerCount - 1) {
    const select = (name: string, rows: string, size: number) =>
      selectRows(context, `${path}/logit_rows/${name}`, rows, size);
    attended = select('attention', attended, config.headCount * config.layers[layer]!.headSize);
    residual = select('residual', residual, config.hiddenSize);
    own = own && select('per_layer_input', own, config.perLayerInput!.size);
    if (config.isParallel) normed = select('normed', normed, config.hiddenSize);
  }
  const output = attentionOutput(context, layer, attended);
  const next = nextNorm(weights, config, layer);
  if (config.isParallel) {
    const both = context.graph.op(`${path}/Add`, 'Add', [output, mlp(context, layer, normed)]);
    return addUpdate(context, `${path}/mlp`, { residual, update: both, ownNorm: undefined, next });
  }
  const middle = addUpdate(context, `${path}/attn`, {
    residual,
    update: output,
    ownNorm: layerNorm(weights, layer, 'afterAttention'),
    next: layerNorm(weights, layer, 'beforeMlp'),
  });
  const update = mlp(context, layer, middle.normed);
  const ownNorm = layerNorm(weights, layer, 'afterMlp');
  if (own === undefined && !config.hasLayerScale)
    return addUpdate(context, `${path}/mlp`, { residual: middle.residual, update, ownNorm, next });
  let sum = addUpdate(context, `${path}/mlp`, {
    residual: middle.residual,
    update,
    ownNorm,
    next: undefined,
  }).residual;
  if (own !== undefined)
    sum = addPerLayerInput(context, layer, { residual: sum, own }, (role, at, input) =>
      linear(context, { path: at, input, matrices: [weights.matrix(layer, role)], biases: [] }),
    );
  if (config.hasLayerScale) sum = scaleLayer(context, layer, sum);
  return { residual: sum, normed: next === undefined ? sum : norm(context, next.path, sum, next.weights) };
}

/** The inputs that layers have of their own, of all layers; undefined for models without. */
function perLayerValues(context: BlockContext, ids: string, embedded: string): string | undefined {
  const { config, weights, variant } = context;
  if (config.perLayerInput === undefined) return undefined;
  const path = '/model/per_layer';
  const { value: rows } = lookup(context, {
    path,
    name: 'model.embed_tokens_per_layer.weight',
    tensor: weights.perLayerEmbedding(),
    ids,
  });
  const projected = linear(context, {
    path: `${path}/model_projection`,
    input: embedded,
    matrices: [weights.perLayerModelProjection()],
    biases: [],
  });
  return perLayerInputs({ ...context, positionRank: variant.positionRank }, { rows, projected });
}

/** Throws: `unsupported`. */
function checkVariant({ variant, config, kvType }: BlockContext): void {
  const fault = variantFault(variant.name, config) ?? cacheFault(variant.name, kvType, config);
  if (fault === undefined) return;
  const { key, message } = fault;
  throw new ModelBuildError('unsupported', `${message}: not built as "${variant.name}"`, { key });
}
