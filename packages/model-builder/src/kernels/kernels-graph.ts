// The decoder graph of the variant `kernels`: five operators for each layer, in which norms, biases, the gate and the residual
// additions are fused.

import {
  cacheRowLength,
  KV_PARTS,
  type KvType,
  type Precision,
  pastName,
  presentName,
  SLOTS_INPUT,
  SLOTS_OUTPUT,
} from '@ortler/engine/graph-contract';
import { KERNELS_DOMAIN } from '@ortler/kernels';
import { type AttributeValue, float, GraphRecorder, int } from '@ortler/onnx';
import { checkExtent } from '../architectures/check-extent.ts';
import { hasNoEffect } from '../architectures/ignored-tensors.ts';
import { EMBEDDING_WEIGHT } from '../blocks/embedding.ts';
import { LM_HEAD_WEIGHT, selectRows } from '../blocks/lm-head.ts';
import { ROTARY_TABLES, rotaryTables } from '../blocks/rotary.ts';
import { DYNAMIC_DIMS, type Variant } from '../blocks/variant.ts';
import { assertInvariant, ModelBuildError } from '../errors.ts';
import type { WeightSource } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { declareTiles, type TiledMatrix } from '../weights/declare-tiles.ts';
import { declareFloats } from '../weights/declare-weights.ts';
import type { WrittenMatrix } from '../weights/written-matrix.ts';
import type { MatrixFormats } from './choose-formats.ts';
import { type DecoderMatrix, layerMatrices, tableMatrix } from './decoder-matrices.ts';
import { embeddingLookup, type ProductOptions, product } from './product.ts';
import { activationBits, uniformFormat } from './weight-formats.ts';

/** Source: `MAX_HEAD_SIZE` of `packages/kernels/c/attention.h`. */
const LARGEST_HEAD_SIZE = 512;

/** Values are `[batch, length, size]`. */
const VARIANT = { positionRank: 2 } as const satisfies Partial<Variant>;

export interface KernelsGraphParts {
  readonly config: DecoderConfig;
  readonly checkpoint: WeightSource;
  readonly precision: Precision;
  readonly kvType: KvType;
}

export interface KernelsGraphOptions {
  /** Formats of the matrices of a build in q4 or `file`. */
  readonly formats?: MatrixFormats | undefined;
  /** Called with each matrix when its last tile is made; its error takes time to measure. */
  readonly onMatrix?: ((matrix: WrittenMatrix) => void) | undefined;
}

const ATTENTION_OPERATORS: Readonly<Record<KvType, string>> = {
  float32: 'Attention',
  float16: 'AttentionFloat16',
  int8: 'AttentionInt8',
};

/**
 * ```
 *   input_ids -> Embedding -> residual [batch, length, hidden]
 *   per layer:
 *     norm, q k v, bias        Product (residual)            [batch, length, (heads + 2 kvHeads) * headSize]
 *     rotation, cache, softmax Attention <- caches, lengths  [batch, length, heads * headSize]
 *     output, + residual       Product                       residual
 *     norm, silu(gate) * up    Product (residual)            [batch, length, intermediate]
 *     down, + residual         Product                       residual
 *   norm, output matrix        Product (residual)            logits
 * ```
 * In the last layer everything after the attention runs on the rows of `logit_rows` only.
 *
 * Throws: `tensor_missing`, `tensor_mismatch`, `unsupported` for tensors that contradict `config.json` or that it does not imply.
 */
export function recordKernelsGraph(
  parts: KernelsGraphParts,
  options: KernelsGraphOptions = {},
): GraphRecorder {
  const recorder = new KernelsGraph(parts, options);
  recorder.record();
  return recorder.graph;
}

class KernelsGraph {
  readonly graph = new GraphRecorder();
  readonly #parts: KernelsGraphParts;
  readonly #options: KernelsGraphOptions;

  constructor(parts: KernelsGraphParts, options: KernelsGraphOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  record(): void {
    const { graph } = this;
    const { config, checkpoint } = this.#parts;
    if (config.headSize > LARGEST_HEAD_SIZE) {
      const message = `heads of ${config.headSize} elements are not built as "kernels", which has at most ${LARGEST_HEAD_SIZE}`;
      throw new ModelBuildError('unsupported', message, { key: 'head_dim' });
    }
    checkExtent(this.#parts);
    const { batch, length, rows } = DYNAMIC_DIMS;
    graph.input(SLOTS_INPUT.inputIds, 'int64', [batch, length]);
    graph.input(SLOTS_INPUT.lastPositions, 'int32', [batch]);
    graph.input(SLOTS_INPUT.logitRows, 'int64', [rows]);
    rotaryTables(graph, config, 'float32');
    const table = this.#tiles(tableMatrix(config, EMBEDDING_WEIGHT));
    let residual = embeddingLookup(graph, '/model/embed_tokens', SLOTS_INPUT.inputIds, table);
    for (let layer = 0; layer < config.layerCount; layer++) residual = this.#layer(layer, residual);
    const head = config.tiedEmbeddings ? table : this.#tiles(tableMatrix(config, LM_HEAD_WEIGHT));
    const output = SLOTS_OUTPUT.logits;
    this.#product('/lm_head', { input: residual, matrices: [head], norm: this.#norm('model.norm'), output });
    graph.output(output, 'float32', [rows, config.vocabSize]);
    checkpoint.checkAllUsed(hasNoEffect);
  }

  #layer(layer: number, input: string): string {
    const { config } = this.#parts;
    const { headCount, headSize, hiddenSize, intermediateSize } = config;
    const path = `/model/layers.${layer}`;
    const name = `model.layers.${layer}`;
    const matrices = layerMatrices(config, layer);
    let residual = input;
    let attended = this.#attention(layer, residual);
    if (layer === config.layerCount - 1) {
      const context = { graph: this.graph, variant: VARIANT };
      attended = selectRows(context, `${path}/logit_rows/attention`, attended, headCount * headSize);
      residual = selectRows(context, `${path}/logit_rows/residual`, residual, hiddenSize);
    }
    residual = this.#product(`${path}/attn/o_proj`, {
      input: attended,
      matrices: [this.#tiles(matrices.attentionOutput)],
      bias: this.#bias(config.attentionOutputBias, [[`${name}.self_attn.o_proj.bias`, hiddenSize]]),
      residual,
    });
    const gated = this.#product(`${path}/mlp/gate_up_proj`, {
      input: residual,
      matrices: [this.#tiles(matrices.gateUp)],
      norm: this.#norm(`${name}.post_attention_layernorm`),
      bias: this.#bias(config.mlpBias, [
        [`${name}.mlp.gate_proj.bias`, intermediateSize],
        [`${name}.mlp.up_proj.bias`, intermediateSize],
      ]),
      isGated: true,
    });
    return this.#product(`${path}/mlp/down_proj`, {
      input: gated,
      matrices: [this.#tiles(matrices.down)],
      bias: this.#bias(config.mlpBias, [[`${name}.mlp.down_proj.bias`, hiddenSize]]),
      residual,
    });
  }

  #attention(layer: number, residual: string): string {
    const { graph } = this;
    const { config, kvType } = this.#parts;
    const { headCount, kvHeadCount, headSize } = config;
    const path = `/model/layers.${layer}/attn`;
    const name = `model.layers.${layer}.self_attn`;
    const sizes = { query: headCount * headSize, key: kvHeadCount * headSize, value: kvHeadCount * headSize };
    const parts = ['query', 'key', 'value'] as const;
    const matrices = layerMatrices(config, layer);
    const qkv = this.#product(`${path}/qkv_proj`, {
      input: residual,
      matrices: parts.map(part => this.#tiles(matrices[part])),
      norm: this.#norm(`model.layers.${layer}.input_layernorm`),
      bias: this.#bias(
        config.qkvBias,
        parts.map(part => [`${name}.${part[0]}_proj.bias`, sizes[part]] as const),
      ),
    });
    const rowLength = cacheRowLength({ variant: 'kernels', kvType, headSize });
    const dims = [DYNAMIC_DIMS.batch, kvHeadCount, DYNAMIC_DIMS.capacity, rowLength];
    const caches = KV_PARTS.map(part => graph.input(pastName(layer, part), kvType, dims));
    const norms = config.queryKeyNorm
      ? ['q', 'k'].map(part => this.#floats(`${name}.${part}_norm.weight`, headSize))
      : [];
    const attributes: Record<string, AttributeValue> = {
      heads: int(headCount),
      kv_heads: int(kvHeadCount),
      head_size: int(headSize),
      ...(config.queryKeyNorm ? { epsilon: float(config.normEpsilon) } : {}),
    };
    const node = `${path}/Attention`;
    const inputs = [
      qkv,
      ...caches,
      SLOTS_INPUT.lastPositions,
      ROTARY_TABLES.cosine,
      ROTARY_TABLES.sine,
      ...norms,
    ];
    const attended = graph.op(node, ATTENTION_OPERATORS[kvType], inputs, {
      domain: KERNELS_DOMAIN,
      attributes,
      outputs: [`${node}/output_0`, ...KV_PARTS.map(part => presentName(layer, part))],
    });
    for (const part of KV_PARTS) graph.output(presentName(layer, part), kvType, dims);
    return attended;
  }

  #product(path: string, options: Omit<ProductOptions, 'activationBits'>): string {
    return product(this.graph, path, {
      ...options,
      activationBits: activationBits(this.#parts.precision, options.matrices),
    });
  }

  #tiles({ name, tensors, shape }: DecoderMatrix): TiledMatrix {
    const { checkpoint, precision } = this.#parts;
    const { formats, onMatrix } = this.#options;
    const format = precision === 'q4' || precision === 'file' ? formats?.get(name) : uniformFormat(precision);
    assertInvariant(format !== undefined, `${name} has a format`);
    const sources = tensors.map(tensor => checkpoint.tensor(tensor, shape));
    return declareTiles(this.graph, name, sources, { format, onMatrix });
  }

  #floats(name: string, size: number): string {
    return declareFloats(this.graph, name, [this.#parts.checkpoint.tensor(name, [size])], 'float32');
  }

  #norm(name: string): NonNullable<ProductOptions['norm']> {
    const { hiddenSize, normEpsilon } = this.#parts.config;
    return { weight: this.#floats(`${name}.weight`, hiddenSize), epsilon: normEpsilon };
  }

  /** The biases one after the other, or nothing where the architecture has none. */
  #bias(isThere: boolean, parts: readonly (readonly [name: string, size: number])[]): string | undefined {
    if (!isThere) return undefined;
    const tensors = parts.map(([name, size]) => this.#parts.checkpoint.tensor(name, [size]));
    return declareFloats(this.graph, parts[0]![0], tensors, 'float32');
  }
}
