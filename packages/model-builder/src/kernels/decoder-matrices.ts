// The matrices of a decoder that the CPU kernels multiply with, and the tensors of the checkpoint that each is made of.

import { EMBEDDING_WEIGHT } from '../blocks/embedding.ts';
import { LM_HEAD_WEIGHT } from '../blocks/lm-head.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';

/** `table`: the embedding table, and the output matrix. */
export type MatrixRole = 'table' | 'query' | 'key' | 'value' | 'attentionOutput' | 'gateUp' | 'down';

export interface DecoderMatrix {
  readonly role: MatrixRole;
  readonly name: string;
  /** Tensors of equal shape; several have their tiles in turns. */
  readonly tensors: readonly string[];
  /** Of each tensor: `[outputs, inputs]`. */
  readonly shape: readonly [number, number];
}

/** Tables first. One after the other, because a corrupt number of layers could exhaust memory. */
export function* decoderMatrices(config: DecoderConfig): Generator<DecoderMatrix> {
  yield tableMatrix(config, EMBEDDING_WEIGHT);
  if (!config.tiedEmbeddings) yield tableMatrix(config, LM_HEAD_WEIGHT);
  for (let layer = 0; layer < config.layerCount; layer++) yield* Object.values(layerMatrices(config, layer));
}

export function tableMatrix({ vocabSize, hiddenSize }: DecoderConfig, name: string): DecoderMatrix {
  return { role: 'table', name, tensors: [name], shape: [vocabSize, hiddenSize] };
}

export function layerMatrices(
  { headCount, kvHeadCount, headSize, hiddenSize, intermediateSize }: DecoderConfig,
  layer: number,
): Readonly<Record<Exclude<MatrixRole, 'table'>, DecoderMatrix>> {
  const attention = `model.layers.${layer}.self_attn`;
  const mlp = `model.layers.${layer}.mlp`;
  const one = (role: MatrixRole, name: string, shape: readonly [number, number]): DecoderMatrix => ({
    role,
    name,
    tensors: [name],
    shape,
  });
  return {
    query: one('query', `${attention}.q_proj.weight`, [headCount * headSize, hiddenSize]),
    key: one('key', `${attention}.k_proj.weight`, [kvHeadCount * headSize, hiddenSize]),
    value: one('value', `${attention}.v_proj.weight`, [kvHeadCount * headSize, hiddenSize]),
    attentionOutput: one('attentionOutput', `${attention}.o_proj.weight`, [hiddenSize, headCount * headSize]),
    gateUp: {
      role: 'gateUp',
      name: `${mlp}.gate_up_proj.weight`,
      tensors: [`${mlp}.gate_proj.weight`, `${mlp}.up_proj.weight`],
      shape: [intermediateSize, hiddenSize],
    },
    down: one('down', `${mlp}.down_proj.weight`, [hiddenSize, intermediateSize]),
  };
}
