// A reference decoder in plain loops and doubles, with caches of every type. It shares only the rotary angles with the graphs, and
// the weights where none are given.

import type { KvType } from '@ortler/engine/graph-contract';
import { rotaryFrequencies } from '../src/blocks/rotary.ts';
import type { DecoderConfig } from '../src/hugging-face/decoder-config.ts';
import { seededTensors } from '../src/testing/tiny-model.ts';
import { attendInt8 } from './plain-int8-attention.ts';

type Vector = Float64Array<ArrayBuffer>;

export interface PlainDecoderOptions {
  /** Default: float32, which rounds nothing. */
  readonly kvType?: KvType;
  /** Tensors in place of those of the checkpoint, by name. */
  readonly matrices?: ReadonlyMap<string, Vector>;
  /** What products read in place of each of their inputs. Default: the input. */
  readonly productInput?: (input: Vector) => Vector;
}

/** Logits after each of the tokens. The weights are those of a tiny checkpoint of seed 1. */
export function plainLogits(
  config: DecoderConfig,
  tokens: readonly number[],
  { kvType = 'float32', matrices = new Map(), productInput = input => input }: PlainDecoderOptions = {},
): Vector[] {
  const tensors = new Map([...readTensors(config), ...matrices]);
  const { hiddenSize, headSize, headCount, kvHeadCount } = config;
  const table = tensors.get('model.embed_tokens.weight')!;
  const linear = (name: string, given: Vector, outputs: number): Vector => {
    const input = productInput(given);
    const weights = tensors.get(`${name}.weight`)!;
    const bias = tensors.get(`${name}.bias`);
    return Float64Array.from({ length: outputs }, (_, row) => {
      let sum = bias?.[row] ?? 0;
      for (let i = 0; i < input.length; i++) sum += weights[row * input.length + i]! * input[i]!;
      return sum;
    });
  };
  const norm = (name: string, input: Vector) => rmsNorm(input, tensors.get(name)!, config.norm.epsilon);
  const heads = (input: Vector, name: string): Vector[] => {
    const parts = Array.from({ length: input.length / headSize }, (_, head) =>
      input.slice(head * headSize, (head + 1) * headSize),
    );
    return config.queryKeyNorm === 'head' ? parts.map(part => norm(name, part)) : parts;
  };

  let residuals = tokens.map(token => table.slice(token * hiddenSize, (token + 1) * hiddenSize));
  for (let layer = 0; layer < config.layerCount; layer++) {
    const path = `model.layers.${layer}`;
    const keys: Vector[][] = [];
    const values: Vector[][] = [];
    residuals = residuals.map((residual, position) => {
      const input = norm(`${path}.input_layernorm.weight`, residual);
      const project = (kind: string, count: number) =>
        linear(`${path}.self_attn.${kind}_proj`, input, count * headSize);
      const turn = (head: Vector) => rotate(head, position, config);
      const queries = heads(project('q', headCount), `${path}.self_attn.q_norm.weight`).map(turn);
      const key = heads(project('k', kvHeadCount), `${path}.self_attn.k_norm.weight`).map(turn);
      const projected = project('v', kvHeadCount);
      const value = key.map((_, head) => projected.slice(head * headSize, (head + 1) * headSize));
      // An int8 cache rounds where keys, queries and weights meet.
      keys.push(kvType === 'int8' ? key : key.map(head => asCached(head, kvType)));
      values.push(kvType === 'int8' ? value : value.map(head => asCached(head, kvType)));
      const attended = queries.map((query, head) => {
        const group = Math.floor(head / (headCount / kvHeadCount));
        return (kvType === 'int8' ? attendInt8 : attend)(
          query,
          keys.map(token => token[group]!),
          values.map(token => token[group]!),
        );
      });
      const joined = Float64Array.from(attended.flatMap(head => [...head]));
      const middle = add(residual, linear(`${path}.self_attn.o_proj`, joined, hiddenSize));
      const normed = norm(`${path}.post_attention_layernorm.weight`, middle);
      const gate = linear(`${path}.mlp.gate_proj`, normed, config.intermediateSize);
      const up = linear(`${path}.mlp.up_proj`, normed, config.intermediateSize);
      const inner = gate.map((x, i) => (x / (1 + Math.exp(-x))) * up[i]!);
      return add(middle, linear(`${path}.mlp.down_proj`, inner, hiddenSize));
    });
  }
  const head = config.tiedEmbeddings ? 'model.embed_tokens' : 'lm_head';
  return residuals.map(residual => linear(head, norm('model.norm.weight', residual), config.vocabSize));
}

function readTensors(config: DecoderConfig): Map<string, Vector> {
  return new Map(
    seededTensors(config, 1).map(({ name, shape, fill }) => {
      const values = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
      fill(values, 0);
      return [name, Float64Array.from(values)];
    }),
  );
}

function rmsNorm(input: Vector, weight: Vector, epsilon: number): Vector {
  const meanSquare = input.reduce((sum, x) => sum + x * x, 0) / input.length;
  const factor = 1 / Math.sqrt(meanSquare + epsilon);
  return input.map((x, i) => x * factor * weight[i]!);
}

function rotate(head: Vector, position: number, { ropes, headSize, contextLength }: DecoderConfig): Vector {
  const half = headSize / 2;
  const frequencies = rotaryFrequencies(ropes[0]!, contextLength);
  return head.map((x, i) => {
    const angle = Math.fround(position * frequencies[i % half]!);
    const other = i < half ? -head[i + half]! : head[i - half]!;
    return x * Math.cos(angle) + other * Math.sin(angle);
  });
}

/** What a cache gives back. */
function asCached(numbers: Vector, kvType: 'float32' | 'float16'): Vector {
  return kvType === 'float32' ? numbers : numbers.map(x => Math.f16round(x));
}

function attend(query: Vector, keys: readonly Vector[], values: readonly Vector[]): Vector {
  const scores = keys.map(key => query.reduce((sum, x, i) => sum + x * key[i]!, 0) / Math.sqrt(query.length));
  const largest = Math.max(...scores);
  const weights = scores.map(score => Math.exp(score - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return query.map((_, i) =>
    values.reduce((sum, value, token) => sum + (weights[token]! / total) * value[i]!, 0),
  );
}

function add(a: Vector, b: Vector): Vector {
  return a.map((x, i) => x + b[i]!);
}
