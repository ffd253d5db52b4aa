// A Llama decoder in plain TypeScript, up to the last matrix of its last layer: what goes into that matrix at each
// position, and what its product is added to. Slow and short; the trainer needs nothing else of the model.

import { Checkpoint, readDecoderConfig } from '@ortler/model-builder/testing';

type Config = Awaited<ReturnType<typeof readDecoderConfig>>;

/** Name of the matrix, without `.weight`. */
export function lastMatrixName({ layerCount }: Config): string {
  return `model.layers.${layerCount - 1}.mlp.down_proj`;
}

export interface LastLayer {
  readonly config: Config;
  /** Inputs of the matrix. Shape: `[positions][intermediateSize]`. */
  readonly inputs: readonly Float32Array[];
  /** The stream that leaves the layer. Shape: `[positions][hiddenSize]`. */
  readonly outputs: readonly Float32Array[];
  /** Row of the embedding table of a token, which is its output row too. */
  readonly embedding: (token: number) => Float32Array;
  /** The most likely next token when `output` leaves the last layer. */
  readonly nextToken: (output: Float32Array) => number;
}

/** Reads a checkpoint folder and computes the tokens. Throws: for anything but a plain Llama with tied embeddings. */
export async function computeLastLayer(folder: string, tokens: readonly number[]): Promise<LastLayer> {
  const config = await readDecoderConfig(folder);
  const { hiddenSize, headCount, kvHeadCount, headSize, intermediateSize, vocabSize } = config;
  if (config.modelType !== 'llama' || !config.tiedEmbeddings || config.ropes[0]!.scaling.kind !== 'none')
    throw new Error(`${folder} is not a plain Llama with tied embeddings.`);
  const checkpoint = await Checkpoint.open(folder);
  const read = async (name: string, shape: readonly number[]) => {
    const values = new Float32Array(shape.reduce((product, dim) => product * dim, 1));
    await checkpoint.tensor(`${name}.weight`, shape).readFloats(0, values);
    return values;
  };
  try {
    const table = await read('model.embed_tokens', [vocabSize, hiddenSize]);
    const embedding = (token: number) => table.subarray(token * hiddenSize, (token + 1) * hiddenSize);
    const stream = tokens.map(token => Float32Array.from(embedding(token)));
    let inputs: Float32Array[] = [];
    for (let layer = 0; layer < config.layerCount; layer++) {
      const name = `model.layers.${layer}`;
      const normed = await normAll(`${name}.input_layernorm`);
      const projected = async (part: string, heads: number) => {
        const matrix = await read(`${name}.self_attn.${part}_proj`, [heads * headSize, hiddenSize]);
        return normed.map(vector => multiply(matrix, vector, heads * headSize));
      };
      const queries = await projected('q', headCount);
      const keys = await projected('k', kvHeadCount);
      const values = await projected('v', kvHeadCount);
      for (const vectors of [queries, keys])
        for (const [position, vector] of vectors.entries()) rotate(vector, position, config);
      const attended = attend(queries, keys, values, config);
      await addProducts(`${name}.self_attn.o_proj`, attended, headCount * headSize);

      const middle = await normAll(`${name}.post_attention_layernorm`);
      const gate = await read(`${name}.mlp.gate_proj`, [intermediateSize, hiddenSize]);
      const up = await read(`${name}.mlp.up_proj`, [intermediateSize, hiddenSize]);
      inputs = middle.map(vector => {
        const gates = multiply(gate, vector, intermediateSize);
        return multiply(up, vector, intermediateSize).map((value, i) => value * silu(gates[i]!));
      });
      await addProducts(`${name}.mlp.down_proj`, inputs, intermediateSize);
    }
    const gain = await read('model.norm', [hiddenSize]);
    const nextToken = (output: Float32Array) =>
      indexOfLargest(multiply(table, rmsNorm(output, gain, config.norm.epsilon), vocabSize));
    return { config, inputs, outputs: stream, embedding, nextToken };

    async function normAll(name: string): Promise<Float32Array[]> {
      const weights = await read(name, [hiddenSize]);
      return stream.map(vector => rmsNorm(vector, weights, config.norm.epsilon));
    }

    async function addProducts(name: string, vectors: readonly Float32Array[], width: number): Promise<void> {
      const matrix = await read(name, [hiddenSize, width]);
      for (const [position, vector] of vectors.entries()) {
        const product = multiply(matrix, vector, hiddenSize);
        for (let i = 0; i < hiddenSize; i++) stream[position]![i]! += product[i]!;
      }
    }
  } finally {
    await checkpoint.close();
  }
}

/** Shape: `matrix` `[rows, vector.length]`. */
function multiply(matrix: Float32Array, vector: Float32Array, rows: number): Float32Array {
  const width = vector.length;
  return Float32Array.from({ length: rows }, (_, row) => dot(matrix, row * width, vector, 0, width));
}

function dot(a: Float32Array, aStart: number, b: Float32Array, bStart: number, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += a[aStart + i]! * b[bStart + i]!;
  return sum;
}

function rmsNorm(vector: Float32Array, weights: Float32Array, epsilon: number): Float32Array {
  const meanSquare = dot(vector, 0, vector, 0, vector.length) / vector.length;
  const factor = 1 / Math.sqrt(meanSquare + epsilon);
  return vector.map((value, i) => value * factor * weights[i]!);
}

function silu(value: number): number {
  return value / (1 + Math.exp(-value));
}

/** Rotates each head: element `i` of its first half together with element `i` of its second. Mutates: `vector`. */
function rotate(vector: Float32Array, position: number, { headSize, ropes }: Config): void {
  const { theta } = ropes[0]!;
  const half = headSize / 2;
  for (let start = 0; start < vector.length; start += headSize) {
    for (let i = 0; i < half; i++) {
      const angle = position * theta ** (-i / half);
      const [a, b] = [vector[start + i]!, vector[start + half + i]!];
      vector[start + i] = a * Math.cos(angle) - b * Math.sin(angle);
      vector[start + half + i] = b * Math.cos(angle) + a * Math.sin(angle);
    }
  }
}

/** Each position looks at itself and those before it. Shape of the result: `[positions][headCount * headSize]`. */
function attend(
  queries: readonly Float32Array[],
  keys: readonly Float32Array[],
  values: readonly Float32Array[],
  { headCount, kvHeadCount, headSize }: Config,
): Float32Array[] {
  return queries.map((query, position) => {
    const result = new Float32Array(headCount * headSize);
    for (let head = 0; head < headCount; head++) {
      const kvStart = Math.floor((head * kvHeadCount) / headCount) * headSize;
      const scores = keys
        .slice(0, position + 1)
        .map(key => dot(query, head * headSize, key, kvStart, headSize) / Math.sqrt(headSize));
      const largest = Math.max(...scores);
      const weights = scores.map(score => Math.exp(score - largest));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (const [other, weight] of weights.entries())
        for (let i = 0; i < headSize; i++)
          result[head * headSize + i]! += (weight / total) * values[other]![kvStart + i]!;
    }
    return result;
  });
}

function indexOfLargest(values: Float32Array): number {
  return values.reduce((best, value, i) => (value > values[best]! ? i : best), 0);
}
