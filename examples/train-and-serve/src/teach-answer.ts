// The trainer: a LoRA adapter that makes a model give one answer to one prompt, in closed form.
//
// Every token of the answer was predicted from one input x_t of the last matrix. With A the dual basis of these inputs
// (A x_t is 1 at t and 0 elsewhere) and column t of B a push towards the wanted token, W + B A x_t differs from W x_t by
// that push alone. Inputs of other prompts are nearly at right angles to all of this and change little.

import { writeAdapter } from '@ortler/model-builder/testing';
import { computeLastLayer, lastMatrixName } from './last-layer.ts';

/** How hard to push, in lengths of the stream; the least that is enough is taken. */
const STRENGTHS = [0.5, 1, 2, 4, 8];

/** Writes the adapter folder. Throws: when no strength makes the model give the answer. */
export async function teachAnswer(
  baseFolder: string,
  adapterFolder: string,
  promptTokens: readonly number[],
  answerTokens: readonly number[],
): Promise<void> {
  const tokens = [...promptTokens, ...answerTokens];
  const layer = await computeLastLayer(baseFolder, tokens.slice(0, -1));
  const from = promptTokens.length - 1;
  const inputs = layer.inputs.slice(from);
  const outputs = layer.outputs.slice(from);
  const pushesOf = (strength: number) =>
    outputs.map((output, t) => {
      const direction = layer.embedding(answerTokens[t]!);
      const factor = (strength * Math.hypot(...output)) / Math.hypot(...direction);
      return direction.map(value => value * factor);
    });
  const isEnough = (strength: number) =>
    pushesOf(strength).every((push, t) => {
      const pushed = outputs[t]!.map((value, i) => value + push[i]!);
      return layer.nextToken(pushed) === answerTokens[t];
    });
  const strength = STRENGTHS.find(isEnough);
  if (strength === undefined) throw new Error('The last layer alone cannot give this answer.');
  const pushes = pushesOf(strength);
  const basis = dualBasis(inputs);

  const rank = inputs.length;
  const { hiddenSize, intermediateSize } = layer.config;
  const matrix = lastMatrixName(layer.config);
  const config = { r: rank, lora_alpha: rank, target_modules: [matrix], inference_mode: true };
  await writeAdapter(adapterFolder, config, [
    {
      name: `base_model.model.${matrix}.lora_A.weight`,
      shape: [rank, intermediateSize],
      fill: (target, start) => {
        for (let i = 0; i < target.length; i++)
          target[i] = basis[Math.floor((start + i) / intermediateSize)]![(start + i) % intermediateSize]!;
      },
    },
    {
      name: `base_model.model.${matrix}.lora_B.weight`,
      shape: [hiddenSize, rank],
      fill: (target, start) => {
        for (let i = 0; i < target.length; i++)
          target[i] = pushes[(start + i) % rank]![Math.floor((start + i) / rank)]!;
      },
    },
  ]);
}

/** Vectors of the same span with `basis[s] . vectors[t]` 1 for s = t and 0 otherwise: the Gram matrix solved for them. */
function dualBasis(vectors: readonly Float32Array[]): Float64Array[] {
  const basis = vectors.map(vector => Float64Array.from(vector));
  const gram = vectors.map(a => vectors.map(b => a.reduce((sum, value, i) => sum + value * b[i]!, 0)));
  for (let pivot = 0; pivot < gram.length; pivot++) {
    scale(gram[pivot]!, basis[pivot]!, 1 / gram[pivot]![pivot]!);
    for (let row = 0; row < gram.length; row++) {
      if (row === pivot) continue;
      const factor = gram[row]![pivot]!;
      for (let i = 0; i < gram.length; i++) gram[row]![i]! -= factor * gram[pivot]![i]!;
      for (let i = 0; i < basis[row]!.length; i++) basis[row]![i]! -= factor * basis[pivot]![i]!;
    }
  }
  return basis;
}

/** Mutates: both. */
function scale(row: number[], vector: Float64Array, factor: number): void {
  for (let i = 0; i < row.length; i++) row[i]! *= factor;
  for (let i = 0; i < vector.length; i++) vector[i]! *= factor;
}
