// A tiny checkpoint with massive activations, as trained models have them: a few channels of the hidden state, the same for every token,
// reach thousands after an early layer and stay there, while all others are about 1.
// Source: Sun et al. 2024, "Massive Activations in Large Language Models".

import { join } from 'node:path';
import { SINGLE_WEIGHTS_FILE } from '../hugging-face/checkpoint.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { createTinyCheckpoint, seededTensors } from './tiny-model.ts';
import { writeSafetensors } from './write-safetensors.ts';

const HIDDEN = 256;
const INTERMEDIATE = 512;

const CONFIG = {
  hidden_size: HIDDEN,
  intermediate_size: INTERMEDIATE,
  num_hidden_layers: 3,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 64,
  tie_word_embeddings: false,
} as const;

/** Channels of the hidden state; one block of 32 inputs has both. */
const MASSIVE_CHANNELS = [40, 50] as const;
/** The neuron of the first MLP whose value reaches thousands. */
const MASSIVE_NEURON = 300;
/** The embedding has the same value there for every token, which the neuron reads. */
const CONSTANT_CHANNEL = 5;

const CONSTANT = 4;
const NEURON_WEIGHT = 14;
/** Weight of norms at all other channels, which a norm of a hidden state with massive ones makes small. */
const ORDINARY_NORM = 50;
/** At the massive channels: they are a hundred times the others after a norm too. */
const MASSIVE_NORM = 10;
const MASSIVE_WEIGHT = 0.005;

export interface MassiveCheckpoint {
  readonly config: DecoderConfig;
  /** Every tensor by its name. */
  readonly tensors: ReadonlyMap<string, Float64Array<ArrayBuffer>>;
}

/** Writes the folder. */
export async function createMassiveCheckpoint(folder: string): Promise<MassiveCheckpoint> {
  const config = await createTinyCheckpoint(folder, { config: CONFIG });
  const tensors = seededTensors(config, 1).map(({ name, shape, fill }) => {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    fill(values, 0);
    change(name, values);
    return { name, shape, values };
  });
  await writeSafetensors(
    join(folder, SINGLE_WEIGHTS_FILE),
    'F32',
    tensors.map(({ name, shape, values }) => ({
      name,
      shape,
      fill: (target, start) => target.set(values.subarray(start, start + target.length)),
    })),
  );
  return { config, tensors: new Map(tensors.map(({ name, values }) => [name, Float64Array.from(values)])) };
}

/** Mutates: `values`. */
function change(name: string, values: Float32Array): void {
  const isFirst = name.startsWith('model.layers.0.');
  if (name === 'model.embed_tokens.weight') {
    for (let at = CONSTANT_CHANNEL; at < values.length; at += HIDDEN) values[at] = CONSTANT;
    return;
  }
  if (name === 'model.layers.0.mlp.down_proj.weight') {
    clearBlock(values, INTERMEDIATE, MASSIVE_NEURON);
    MASSIVE_CHANNELS.forEach((channel, i) => {
      values[channel * INTERMEDIATE + MASSIVE_NEURON] = i === 0 ? 1 : -0.5;
    });
    return;
  }
  if (/^model\.layers\.0\.mlp\.(gate|up)_proj\.weight$/.test(name)) {
    const row = values.subarray(MASSIVE_NEURON * HIDDEN, (MASSIVE_NEURON + 1) * HIDDEN);
    row.fill(0);
    row[CONSTANT_CHANNEL] = NEURON_WEIGHT;
    return;
  }
  if (isFirst) return;
  if (/layernorm\.weight$|^model\.norm\.weight$/.test(name)) {
    for (let channel = 0; channel < HIDDEN; channel++) values[channel]! *= ORDINARY_NORM;
    for (const channel of MASSIVE_CHANNELS) values[channel] = MASSIVE_NORM;
    return;
  }
  // Matrices that read the hidden state after a norm.
  if (!/\.([qkv]_proj|gate_proj|up_proj)\.weight$|^lm_head/.test(name)) return;
  clearBlock(values, HIDDEN, MASSIVE_CHANNELS[0]);
  for (let row = 0; row < values.length / HIDDEN; row++)
    for (const channel of MASSIVE_CHANNELS)
      values[row * HIDDEN + channel] = MASSIVE_WEIGHT * ((row + channel) % 2 === 0 ? 1 : -1);
}

/**
 * Inputs that share a block of 32 with a massive one have no weights. So a scale for each block loses nothing, and rounding of the
 * weights next to the massive one does not cover the rounding of activations. Mutates: `values`.
 */
function clearBlock(values: Float32Array, width: number, input: number): void {
  const first = input - (input % 32);
  for (let row = 0; row < values.length / width; row++)
    values.fill(0, row * width + first, row * width + first + 32);
}
