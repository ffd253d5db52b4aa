// The decoder graph of the variant `kernels`: five operators for each layer of the most common kind, in which norms, biases, the
// gate and the residual additions are fused.

import { SLOTS_INPUT, SLOTS_OUTPUT } from '@ortler/engine/graph-contract';
import { GraphRecorder } from '@ortler/onnx';
import { addPerLayerInput } from '../architectures/add-per-layer-input.ts';
import { layerNorm } from '../architectures/placed-norms.ts';
import { scaled } from '../blocks/elementwise.ts';
import { selectRows, shapeLogits, shapesLogits } from '../blocks/lm-head.ts';
import { layerInput, perLayerInputs } from '../blocks/per-layer-input.ts';
import { declarePositions } from '../blocks/positions.ts';
import { declareQueryScale } from '../blocks/query-scale.ts';
import { addUpdate, type PlacedNorm, scaleLayer } from '../blocks/residual-stream.ts';
import { declareRotaryTables } from '../blocks/rotary.ts';
import { DYNAMIC_DIMS } from '../blocks/variant.ts';
import { ModelBuildError } from '../errors.ts';
import { hasMlp, readsPositions, recurrentOutputSize } from '../hugging-face/decoder-config.ts';
import type { LayerMatrix } from '../hugging-face/layer-matrices.ts';
import {
  EMBEDDING_TABLE,
  layerMatrices,
  OUTPUT_TABLE,
  PER_LAYER_MODEL_PROJECTION,
  PER_LAYER_TABLE,
} from './decoder-matrices.ts';
import { attention } from './kernels-attention.ts';
import {
  biases,
  KERNELS_VARIANT,
  type KernelsContext,
  multiply,
  type NormedInput,
  normedInput,
  tiles,
} from './kernels-context.ts';
import { experts } from './kernels-experts.ts';
import { latentAttention } from './kernels-latent.ts';
import { mlpInner } from './kernels-mlp.ts';
import { declareStates, recurrence } from './kernels-recurrent.ts';
import { embeddingLookup } from './product.ts';

/** Source: `MAX_HEAD_SIZE` of `packages/kernels/c/attention.h`. */
const LARGEST_HEAD_SIZE = 640;

export type KernelsGraphParts = Pick<KernelsContext, 'config' | 'weights' | 'precision' | 'kvType'>;
export type KernelsGraphOptions = Partial<Pick<KernelsContext, 'formats' | 'onMatrix'>>;

/**
 * ```
 *   input_ids -> Embedding -> residual [batch, length, hidden]
 *   per layer:
 *     norm, q k v, bias        Product (residual)            [batch, length, (heads + 2 kvHeads) * headSize]
 *     rotation, cache, softmax Attention <- caches, lengths  [batch, length, heads * headSize]
 *     output, + residual       Product                       residual
 *     norm, silu(gate) * up    Product (residual)            [batch, length, intermediate]
 *     down, + residual         Product                       residual
 *     or with a mixture of experts
 *     norm, router             Product (residual)            [batch, length, experts]
 *     norm, experts, + residual
 *                              Experts (residual, router)    residual
 *   norm, output matrix        Product (residual)            logits
 * ```
 * A recurrent layer has its operators in place of the attention, or beside it: see `kernels-recurrent.ts`. Layers without MLP, and
 * without anything else, have what they have. What a model has besides (norms after attention and MLP, scales, soft caps of logits) is in ONNX Runtime's operators. In the
 * last layer everything after the attention runs on the rows of `logit_rows` only.
 *
 * Throws: `tensor_missing`, `tensor_mismatch`, `unsupported` for tensors that contradict `config.json` or that it does not imply.
 */
export function recordKernelsGraph(
  parts: KernelsGraphParts,
  { formats, onMatrix }: KernelsGraphOptions = {},
): GraphRecorder {
  const { config, weights } = parts;
  const graph = new GraphRecorder();
  const context: KernelsContext = {
    ...parts,
    graph,
    activation: 'float32',
    formats,
    onMatrix,
  };
  const headSize = Math.max(...config.layers.map(layer => layer.headSize));
  if (headSize > LARGEST_HEAD_SIZE) {
    const message = `heads of ${headSize} elements are not built as "kernels", which has at most ${LARGEST_HEAD_SIZE}`;
    throw new ModelBuildError('unsupported', message, { key: 'head_dim' });
  }
  weights.checkExtent();
  const { batch, length, rows } = DYNAMIC_DIMS;
  graph.input(SLOTS_INPUT.inputIds, 'int64', [batch, length]);
  graph.input(SLOTS_INPUT.lastPositions, 'int32', [batch]);
  graph.input(SLOTS_INPUT.logitRows, 'int64', [rows]);
  declareStates(context);
  declareRotaryTables(graph, config, 'float32');
  if (readsPositions(config)) declarePositions(graph);
  declareQueryScale({ ...context, variant: KERNELS_VARIANT });
  const table = tiles(context, EMBEDDING_TABLE);
  const path = '/model/embed_tokens';
  const row = embeddingLookup(graph, path, SLOTS_INPUT.inputIds, table);
  let residual = scaled(context, `${path}/scale`, row, config.embeddingScale);
  const perLayer = perLayerValues(context, residual);
  for (let layer = 0; layer < config.layerCount; layer++)
    residual = decoderLayer(context, layer, residual, perLayer);
  const output = shapesLogits(config) ? '/lm_head/product' : SLOTS_OUTPUT.logits;
  multiply(context, '/lm_head', {
    ...normedInput(context, { path: '/model/norm', weights: weights.finalNorm() }, residual),
    matrices: [config.tiedEmbeddings ? table : tiles(context, OUTPUT_TABLE)],
    output,
  });
  shapeLogits(context, output);
  graph.output(SLOTS_OUTPUT.logits, 'float32', [rows, config.vocabSize]);
  weights.checkAllUsed();
  return graph;
}

function decoderLayer(
  context: KernelsContext,
  layer: number,
  input: string,
  perLayer: string | undefined,
): string {
  const { config, weights } = context;
  const { hiddenSize, isParallel } = config;
  const layerConfig = config.layers[layer]!;
  const path = `/model/layers.${layer}`;
  const before =
    layerConfig.recurrent === undefined && !layerConfig.hasAttention
      ? { input }
      : normedInput(context, layerNorm(weights, layer, 'beforeAttention'), input);
  let mixed = mixers(context, layer, before);
  let residual = input;
  let parallelInput = before.input;
  let own = perLayer && layerInput({ ...context, ...KERNELS_VARIANT }, layer, perLayer);
  if (layer === config.layerCount - 1) {
    const select = (name: string, value: string, size: number) =>
      selectRows({ ...context, variant: KERNELS_VARIANT }, `${path}/logit_rows/${name}`, value, size);
    mixed = mixed.map(({ role, value, size }) => ({ role, value: select(role, value, size), size }));
    residual = select('residual', residual, hiddenSize);
    own = own && select('per_layer_input', own, config.perLayerInput!.size);
    if (isParallel)
      parallelInput = before.input === input ? residual : select('normed', before.input, hiddenSize);
  }
  for (const { role, value } of mixed)
    residual = addProduct(context, layer, { role, input: value, residual });
  if (hasMlp(layerConfig))
    residual = addMlp(context, layer, isParallel ? { ...before, input: parallelInput } : undefined, residual);
  if (own !== undefined) {
    const matrices = layerMatrices(config, layer);
    residual = addPerLayerInput(context, layer, { residual, own }, (role, at, value) =>
      multiply(context, at, { input: value, matrices: [tiles(context, matrices[role]!)] }),
    );
  }
  return config.hasLayerScale ? scaleLayer(context, layer, residual) : residual;
}

/** What the recurrent part and attention give of the same input, before their last products. */
function mixers(context: KernelsContext, layer: number, input: NormedInput) {
  const { headCount, hiddenSize, latent, layers } = context.config;
  const { recurrent: own, hasAttention, headSize } = layers[layer]!;
  return [
    ...(own === undefined
      ? []
      : [
          {
            role: 'recurrentOutput',
            value: recurrence(context, layer, input),
            size: recurrentOutputSize(own, hiddenSize),
          } as const,
        ]),
    ...(hasAttention
      ? [
          {
            role: 'attentionOutput',
            value: (latent === undefined ? attention : latentAttention)(context, layer, input),
            size: headCount * (latent?.valueSize ?? headSize),
          } as const,
        ]
      : []),
  ];
}

/** The MLP of the residual stream, or of the input of the attention beside it. */
function addMlp(
  context: KernelsContext,
  layer: number,
  parallelInput: NormedInput | undefined,
  residual: string,
): string {
  const input =
    parallelInput ?? normedInput(context, layerNorm(context.weights, layer, 'beforeMlp'), residual);
  return context.config.layers[layer]!.hasExperts
    ? addExperts(context, layer, input, residual)
    : addProduct(context, layer, { role: 'down', input: mlpInner(context, layer, input), residual });
}

/** The inputs that layers have of their own, of all layers; undefined for models without. */
function perLayerValues(context: KernelsContext, embedded: string): string | undefined {
  if (context.config.perLayerInput === undefined) return undefined;
  const path = '/model/per_layer';
  const table = tiles(context, PER_LAYER_TABLE);
  const rows = embeddingLookup(context.graph, path, SLOTS_INPUT.inputIds, table);
  const matrices = [tiles(context, PER_LAYER_MODEL_PROJECTION)];
  const projected = multiply(context, `${path}/model_projection`, { input: embedded, matrices });
  return perLayerInputs({ ...context, ...KERNELS_VARIANT }, { rows, projected });
}

const UPDATES = {
  attentionOutput: { path: 'attn/o_proj', ownNorm: 'afterAttention' },
  recurrentOutput: { path: 'recurrent/out_proj', ownNorm: 'afterAttention' },
  down: { path: 'mlp/down_proj', ownNorm: 'afterMlp' },
} as const satisfies Partial<Record<LayerMatrix, object>>;

/** The residual stream plus a product, in one operator where nothing is between them. */
function addProduct(
  context: KernelsContext,
  layer: number,
  {
    role,
    input,
    residual,
  }: { readonly role: keyof typeof UPDATES; readonly input: string; readonly residual: string },
): string {
  const path = `/model/layers.${layer}/${UPDATES[role].path}`;
  const ownNorm: PlacedNorm | undefined = layerNorm(context.weights, layer, UPDATES[role].ownNorm);
  const options = {
    input,
    matrices: [tiles(context, layerMatrices(context.config, layer)[role]!)],
    bias: biases(context, path, layer, [role]),
  };
  if (ownNorm === undefined && context.config.residualScale === 1)
    return multiply(context, path, { ...options, residual });
  const update = multiply(context, path, options);
  return addUpdate(context, path, { residual, update, ownNorm, next: undefined }).residual;
}

/** The residual stream plus a mixture of experts, in one operator where nothing is between them. */
function addExperts(context: KernelsContext, layer: number, input: NormedInput, residual: string): string {
  const ownNorm = layerNorm(context.weights, layer, UPDATES.down.ownNorm);
  if (ownNorm === undefined && context.config.residualScale === 1)
    return experts(context, layer, input, residual);
  const path = `/model/layers.${layer}/mlp/experts`;
  const update = experts(context, layer, input, undefined);
  return addUpdate(context, path, { residual, update, ownNorm, next: undefined }).residual;
}
