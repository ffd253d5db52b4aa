// Rotary position embedding (RoPE): tables of cosines and sines, one row per position, shared by all layers.

import type { GraphRecorder } from '@ortler/onnx';
import { assertInvariant } from '../errors.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import type { RopeConfig } from '../hugging-face/rope.ts';
import { activationBytes, type FloatType } from '../weights/float16.ts';

/** Names of the tables. Shape: `[contextLength, headSize / 2]`, in the type of activations. */
export const ROTARY_TABLES = { cosine: 'model.rotary.cos', sine: 'model.rotary.sin' } as const;

const POSITIONS_PER_CHUNK = 4096;

/** Declares both tables; they are computed while they are written. */
export function rotaryTables(
  graph: GraphRecorder,
  config: Pick<DecoderConfig, 'rope' | 'headSize' | 'contextLength'>,
  type: FloatType,
): void {
  const frequencies = rotaryFrequencies(config.rope, config.headSize);
  const half = frequencies.length;
  const dims = [config.contextLength, half];
  graph.weightGroup({
    tensors: [
      { name: ROTARY_TABLES.cosine, type, dims },
      { name: ROTARY_TABLES.sine, type, dims },
    ],
    async *produce() {
      for (let start = 0; start < config.contextLength; start += POSITIONS_PER_CHUNK) {
        const end = Math.min(start + POSITIONS_PER_CHUNK, config.contextLength);
        const { cosine, sine } = rotaryRows(frequencies, start, end);
        yield [
          activationBytes(cosine, type, ROTARY_TABLES.cosine),
          activationBytes(sine, type, ROTARY_TABLES.sine),
        ];
      }
    },
  });
}

/**
 * Cosines and sines for positions `[start, end)`. Shape: `[end - start, frequencies.length]`.
 *
 * The angle is rounded to float32 as transformers rounds it: models were trained with that rounding, and far
 * into a context it is larger than the precision of a cosine.
 */
export function rotaryRows(frequencies: Float32Array, start: number, end: number) {
  const half = frequencies.length;
  const cosine = new Float32Array((end - start) * half);
  const sine = new Float32Array((end - start) * half);
  for (let position = start; position < end; position++) {
    const row = (position - start) * half;
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(position * frequencies[i]!);
      cosine[row + i] = Math.cos(angle);
      sine[row + i] = Math.sin(angle);
    }
  }
  return { cosine, sine };
}

/**
 * Angle per position of each pair of a head's elements. Shape: `[headSize / 2]`. Unit: radians per token.
 *
 * Source: transformers, modeling_rope_utils.py
 */
export function rotaryFrequencies(rope: RopeConfig, headSize: number): Float32Array {
  assertInvariant(headSize % 2 === 0, 'a head has pairs of elements');
  const frequencies = new Float32Array(headSize / 2);
  for (let i = 0; i < frequencies.length; i++) {
    frequencies[i] = scaleFrequency(rope, i, rope.theta ** ((-2 * i) / headSize));
  }
  return frequencies;
}

/**
 * `linear` slows every frequency by `factor`. `llama3` keeps wavelengths shorter than `original / high`, slows
 * those longer than `original / low` by `factor`, and blends in between. `factors` has a divisor for each frequency.
 */
function scaleFrequency({ scaling }: RopeConfig, index: number, frequency: number): number {
  if (scaling.kind === 'none') return frequency;
  if (scaling.kind === 'factors') return frequency / scaling.factors[index]!;
  if (scaling.kind === 'linear') return frequency / scaling.factor;
  const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalContextLength } = scaling;
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < originalContextLength / high) return frequency;
  if (wavelength > originalContextLength / low) return frequency / factor;
  const share = (originalContextLength / wavelength - low) / (high - low);
  return ((1 - share) * frequency) / factor + share * frequency;
}
