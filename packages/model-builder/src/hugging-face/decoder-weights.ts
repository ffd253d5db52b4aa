// The weights of a decoder by their role. It knows the names and shapes that a checkpoint stores them under.

import { assertInvariant } from '../errors.ts';
import type { WeightSource } from './checkpoint.ts';
import type { CheckpointTensor } from './checkpoint-tensor.ts';
import type { DecoderConfig, ModuleNames } from './decoder-config.ts';
import type { SharedExpert } from './experts-config.ts';
import { type FusedRows, findFusedRows } from './fused-rows.ts';
import { findHeadRows, type HeadRows } from './head-rows.ts';
import { isLatentMatrix, LATENT_NORMS, latentMatrix } from './latent-attention.ts';
import { LayerExperts } from './layer-experts.ts';
import {
  hasBias,
  isRecurrentMatrix,
  type LayerMatrix,
  matrixShape,
  RECURRENT_MODULES,
} from './layer-matrices.ts';
import { withOffset } from './norm-weight.ts';
import { RecentMatrices } from './recent-matrices.ts';
import { RecurrentVectors } from './recurrent-vectors.ts';
import { rowBlocks } from './row-blocks.ts';
import { scaledRows } from './scaled-rows.ts';
import { tensorRows } from './tensor-rows.ts';
import { unreadModules } from './unread-modules.ts';

export type LayerNorm =
  | 'beforeAttention'
  | 'afterAttention'
  | 'beforeMlp'
  | 'afterMlp'
  | 'afterPerLayerInput';
export type HeadNorm = 'queryNorm' | 'keyNorm';

/** Prefixes of the decoder's tensors: alone (Nemotron-H has the second), as a part of a wrapper (two spellings), and without its head. */
const PREFIXES = ['model.', 'backbone.', 'model.language_model.', 'language_model.model.', ''];
const HEADS = ['lm_head', 'language_model.lm_head'];

/** All methods throw as `WeightSource.tensor`. */
export class DecoderWeights {
  readonly source: WeightSource;
  readonly #config: DecoderConfig;
  readonly #prefix: string;
  readonly #head: string;
  readonly #recent = new RecentMatrices();

  constructor(source: WeightSource, config: DecoderConfig) {
    this.source = source;
    this.#config = config;
    this.#prefix =
      PREFIXES.find(prefix => source.has(`${prefix}${config.modules.embedding}.weight`)) ?? 'model.';
    this.#head = HEADS.find(head => source.has(`${head}.weight`)) ?? 'lm_head';
  }

  /** Shape: `[vocab, hidden]`. */
  embedding(): CheckpointTensor {
    return this.#table(`${this.#prefix}${this.#config.modules.embedding}.weight`);
  }

  /** The output matrix that is stored, which a tied model may have too. Shape: `[vocab, hidden]`. */
  head(): CheckpointTensor {
    return this.#table(this.headName);
  }

  get headName(): string {
    return `${this.#head}.weight`;
  }

  /** Shape: `[outputs, inputs]`. */
  matrix(layer: number, role: LayerMatrix): CheckpointTensor {
    const { latent } = this.#config;
    if (latent !== undefined && isLatentMatrix(role)) {
      return latentMatrix(latent, role, this.#config, {
        has: module => this.source.has(`${this.#layer(layer)}.${module}.weight`),
        open: (module, shape) => this.#tensor(layer, module, 'weight', shape),
        recent: this.#recent,
      });
    }
    const [outputs, inputs] = matrixShape(this.#config, layer, role);
    const byHeads = this.#byHeads(layer, role);
    if (byHeads !== undefined)
      return rowBlocks(
        this.#tensor(layer, byHeads.module, 'weight', [byHeads.rowCount, inputs]),
        byHeads.blocks,
      );
    const fused = this.#fused(layer, role);
    const scales: Partial<Record<LayerMatrix, number>> = this.#config.matrixScales;
    const scaled = (tensor: CheckpointTensor) => scaledRows(tensor, () => scales[role] ?? 1);
    if (fused === undefined)
      return scaled(this.#tensor(layer, this.#module(layer, role), 'weight', [outputs, inputs]));
    const all = this.#tensor(layer, fused.module, 'weight', [fused.rowCount, inputs]);
    return scaled(tensorRows(all, fused.firstRow, outputs));
  }

  /** Shape: `[outputs]`. Undefined for matrices without. */
  bias(layer: number, role: LayerMatrix): CheckpointTensor | undefined {
    if (!hasBias(this.#config, layer, role)) return undefined;
    const [outputs] = matrixShape(this.#config, layer, role);
    const fused = this.#fused(layer, role);
    if (fused === undefined) return this.#tensor(layer, this.#module(layer, role), 'bias', [outputs]);
    return tensorRows(this.#tensor(layer, fused.module, 'bias', [fused.rowCount]), fused.firstRow, outputs);
  }

  /** Weights of the experts of a layer that has some. */
  experts(layer: number): LayerExperts {
    const { experts, hiddenSize } = this.#config;
    return new LayerExperts(this.source, {
      layer: this.#layer(layer),
      config: experts!,
      hiddenSize,
      recent: this.#recent,
    });
  }

  /** Scores of attention sinks. Shape: `[heads]`. */
  sinks(layer: number): CheckpointTensor {
    return this.source.tensor(`${this.#layer(layer)}.self_attn.sinks`, [this.#config.headCount]);
  }

  /** Shape: `[hidden]`. Undefined where the layer has no such norm. */
  norm(layer: number, role: LayerNorm): NormWeights | undefined {
    const module = this.#config.modules[role];
    return module === undefined ? undefined : this.#norm(`${this.#layer(layer)}.${module}`);
  }

  /** Factor of the residual stream after the layer. Shape: `[1]`. */
  layerScale(layer: number): CheckpointTensor {
    return this.source.tensor(`${this.#layer(layer)}.layer_scalar`, [1]);
  }

  /** Rows for each token, of all layers. Shape: `[vocab, layers * size]`. */
  perLayerEmbedding(): CheckpointTensor {
    const { layerCount, perLayerInput } = this.#config;
    const { vocabSize, size } = perLayerInput!;
    return this.source.tensor(`${this.#prefix}embed_tokens_per_layer.weight`, [vocabSize, layerCount * size]);
  }

  /** Shape: `[layers * size, hidden]`. */
  perLayerModelProjection(): CheckpointTensor {
    const { layerCount, hiddenSize, perLayerInput } = this.#config;
    const shape = [layerCount * perLayerInput!.size, hiddenSize];
    return this.source.tensor(`${this.#prefix}per_layer_model_projection.weight`, shape);
  }

  /** Shape: `[size]`. */
  perLayerProjectionNorm(): CheckpointTensor {
    return this.source.tensor(`${this.#prefix}per_layer_projection_norm.weight`, [
      this.#config.perLayerInput!.size,
    ]);
  }

  finalNorm(): NormWeights {
    return this.#norm(`${this.#prefix}${this.#config.modules.finalNorm}`);
  }

  /** Shape: `[headSize]`, or `[heads * headSize]` for a norm over all heads. */
  headNorm(layer: number, role: HeadNorm): CheckpointTensor {
    const { headCount, queryKeyNorm, norm, modules } = this.#config;
    const { kvHeadCount, headSize } = this.#config.layers[layer]!;
    const heads = queryKeyNorm !== 'width' ? 1 : role === 'queryNorm' ? headCount : kvHeadCount;
    return withOffset(this.#tensor(layer, modules[role], 'weight', [heads * headSize]), norm.weightOffset);
  }

  /** Norm of a latent row. Shape: `[rank]`. */
  latentNorm(layer: number, role: keyof typeof LATENT_NORMS): CheckpointTensor {
    const { queryRank, rank } = this.#config.latent!;
    return this.#tensor(layer, LATENT_NORMS[role], 'weight', [role === 'queryLatent' ? queryRank! : rank]);
  }

  /** What a recurrent layer has besides matrices. */
  recurrentVectors(layer: number): RecurrentVectors {
    const { layers, modules, hiddenSize } = this.#config;
    const { recurrent } = layers[layer]!;
    assertInvariant(recurrent !== undefined, 'a recurrent layer');
    return new RecurrentVectors(this.source, {
      layer: this.#layer(layer),
      config: recurrent,
      modules: modules.recurrent,
      hiddenSize,
    });
  }

  /**
   * Checks the numbers of heads and layers before anything is allocated, because graphs build lists of that length first and a
   * corrupt number could exhaust memory.
   */
  checkExtent(): void {
    const last = this.#config.layerCount - 1;
    const { layers } = this.#config;
    if (this.norm(last, 'beforeAttention') === undefined)
      this.matrix(last, layers[last]!.recurrent === undefined ? 'attentionOutput' : 'recurrentOutput');
    const { recurrent, hasAttention } = layers[0]!;
    this.matrix(0, recurrent !== undefined ? 'recurrentInput' : hasAttention ? 'query' : 'down');
  }

  /** Throws: as `WeightSource.checkAllUsed`. */
  checkAllUsed(): void {
    const isOther = (name: string) =>
      this.#config.isTextPart && this.#prefix !== '' && !name.startsWith(this.#prefix);
    const { layerCount, predictionLayerCount } = this.#config;
    const predictionLayers = Array.from(
      { length: predictionLayerCount },
      (_, i) => `${this.#layer(layerCount + i)}.`,
    );
    const unread = unreadModules(this.#config).map(module => `${this.#prefix}${module}.`);
    const isLeftOut = (name: string) =>
      [...predictionLayers, ...unread].some(start => name.startsWith(start));
    // A stored copy of a tied head, which `checkTiedHead` compares, old rotary tables, layers that predict further tokens, and keys of
    // layers that attend to those of others, which transformers ignores.
    this.source.checkAllUsed(
      name =>
        name === this.headName ||
        name.endsWith('.rotary_emb.inv_freq') ||
        name.startsWith('mtp.') ||
        name.startsWith(`${this.#prefix}mtp_`) ||
        isLeftOut(name) ||
        isOther(name),
    );
  }

  #table(name: string): CheckpointTensor {
    return this.source.tensor(name, [this.#config.vocabSize, this.#config.hiddenSize]);
  }

  #layer(layer: number): string {
    return `${this.#prefix}layers.${layer}`;
  }

  #tensor(
    layer: number,
    module: string,
    part: 'weight' | 'bias',
    shape: readonly number[],
  ): CheckpointTensor {
    return this.source.tensor(`${this.#layer(layer)}.${module}.${part}`, shape);
  }

  #norm(module: string): NormWeights {
    const { hiddenSize, norm } = this.#config;
    return {
      weight: withOffset(this.source.tensor(`${module}.weight`, [hiddenSize]), norm.weightOffset),
      bias: norm.hasBias ? this.source.tensor(`${module}.bias`, [hiddenSize]) : undefined,
    };
  }

  /** In a layer with experts the MLP is the one that all tokens share. */
  #module(layer: number, role: LayerMatrix): string {
    const { modules } = this.#config;
    if (isRecurrentMatrix(role)) return modules.recurrent[RECURRENT_MODULES[role]];
    assertInvariant(!isLatentMatrix(role), 'latent matrices are opened by themselves');
    if (role !== 'gate' && role !== 'up' && role !== 'down') return modules[role];
    const module = this.#mlp(layer)[role];
    assertInvariant(module !== undefined, 'the MLP has a matrix of this role');
    return module;
  }

  #mlp(layer: number): ModuleNames | SharedExpert {
    const { modules, layers, experts } = this.#config;
    const shared = layers[layer]!.hasExperts ? experts!.modules.shared : undefined;
    return shared ?? modules;
  }

  #fused(layer: number, role: LayerMatrix): FusedRows | undefined {
    return findFusedRows(this.#config, { layer, role, gateUp: this.#mlp(layer).gateUp });
  }

  #byHeads(layer: number, role: LayerMatrix): HeadRows | undefined {
    const { layers, modules } = this.#config;
    const { recurrent } = layers[layer]!;
    if (recurrent?.kind !== 'gated-delta-net' || !isRecurrentMatrix(role)) return undefined;
    return findHeadRows(recurrent, modules.recurrent, role);
  }
}

export interface NormWeights {
  readonly weight: CheckpointTensor;
  readonly bias: CheckpointTensor | undefined;
}
