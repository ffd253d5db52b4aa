// Rotary position embedding (RoPE): tables of cosines and sines, one row per position, shared by layers.

import { ROTARY_TABLES } from '@ortler/engine/graph-contract';
import type { GraphRecorder } from '@ortler/onnx';
import { assertInvariant } from '../errors.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { choosesLongFactors, type LongRope } from '../hugging-face/long-rope.ts';
import type { RopeConfig } from '../hugging-face/rope.ts';
import { activationBytes, type FloatType } from '../weights/float16.ts';

/** Names of the tables of a rotation. Shape: `[contextLength, size / 2]`, in the type of activations. */
export interface RotaryTables {
  readonly cosine: string;
  readonly sine: string;
}

/** By the index of the rotation in the configuration. */
export function rotaryTables(index: number): RotaryTables {
  const path = index === 0 ? ROTARY_TABLES : `${ROTARY_TABLES}.${index}`;
  return { cosine: `${path}.cos`, sine: `${path}.sin` };
}

const POSITIONS_PER_CHUNK = 4096;

/** Declares the tables of all rotations; they are computed while they are written. */
export function declareRotaryTables(
  graph: GraphRecorder,
  { ropes, contextLength }: Pick<DecoderConfig, 'ropes' | 'contextLength'>,
  type: FloatType,
): void {
  for (const [index, rope] of ropes.entries()) {
    const { cosine, sine } = rotaryTables(index);
    const frequencies = rotaryFrequencies(rope, contextLength);
    const dims = [contextLength, frequencies.length];
    graph.weightGroup({
      tensors: [
        { name: cosine, type, dims },
        { name: sine, type, dims },
      ],
      async *produce() {
        for (let start = 0; start < contextLength; start += POSITIONS_PER_CHUNK) {
          const end = Math.min(start + POSITIONS_PER_CHUNK, contextLength);
          const rows = rotaryRows(frequencies, start, end, rotaryAmplitude(rope));
          yield [activationBytes(rows.cosine, type, cosine), activationBytes(rows.sine, type, sine)];
        }
      },
    });
  }
}

/**
 * Cosines and sines for positions `[start, end)`. Shape: `[end - start, frequencies.length]`.
 *
 * The angle is rounded to float32 as transformers rounds it: models were trained with that rounding, and far
 * into a context it is larger than the precision of a cosine.
 */
export function rotaryRows(frequencies: Float32Array, start: number, end: number, amplitude = 1) {
  const half = frequencies.length;
  const cosine = new Float32Array((end - start) * half);
  const sine = new Float32Array((end - start) * half);
  for (let position = start; position < end; position++) {
    const row = (position - start) * half;
    for (let i = 0; i < half; i++) {
      const angle = Math.fround(position * frequencies[i]!);
      cosine[row + i] = amplitude * Math.cos(angle);
      sine[row + i] = amplitude * Math.sin(angle);
    }
  }
  return { cosine, sine };
}

/** Factor of cosines and sines. */
function rotaryAmplitude({ scaling }: RopeConfig): number {
  return 'amplitude' in scaling ? scaling.amplitude : 1;
}

/**
 * Angle per position of each pair of a head's elements, in a model for contexts of this many tokens. Shape: `[size / 2]`. Unit: radians
 * per token.
 *
 * Source: transformers, modeling_rope_utils.py
 */
export function rotaryFrequencies(rope: RopeConfig, contextLength: number): Float32Array {
  assertInvariant(rope.size % 2 === 0, 'a head has pairs of elements');
  const frequencies = new Float32Array(rope.size / 2);
  for (let i = 0; i < frequencies.length; i++) {
    frequencies[i] = scaleFrequency(rope, i, rope.theta ** ((-2 * i) / rope.size), contextLength);
  }
  return frequencies;
}

/**
 * `linear` slows every frequency by `factor`. `llama3` keeps wavelengths shorter than `original / high`, slows
 * those longer than `original / low` by `factor`, and blends in between. `yarn` does that between two pairs. `proportional` keeps the
 * first pairs and does not rotate the others. `factors` has a divisor for each frequency, and `longrope` two, of which the context
 * decides.
 */
function scaleFrequency(rope: RopeConfig, index: number, frequency: number, contextLength: number): number {
  const { scaling } = rope;
  switch (scaling.kind) {
    case 'none':
      return frequency;
    case 'factors':
      return frequency / scaling.factors[index]!;
    case 'longrope':
      return frequency / factorsFor(scaling, contextLength)[index]!;
    case 'linear':
      return frequency / scaling.factor;
    case 'proportional':
      return index < scaling.rotatedPairs ? frequency / scaling.factor : 0;
    case 'llama3': {
      const { factor, lowFrequencyFactor: low, highFrequencyFactor: high, originalContextLength } = scaling;
      const wavelength = (2 * Math.PI) / frequency;
      if (wavelength < originalContextLength / high) return frequency;
      if (wavelength > originalContextLength / low) return frequency / factor;
      return blend(frequency / factor, frequency, (originalContextLength / wavelength - low) / (high - low));
    }
    case 'yarn': {
      const { factor, fastRotations, slowRotations, roundsBorders } = scaling;
      let first = pairOfRotations(rope, scaling.originalContextLength, fastRotations);
      let last = pairOfRotations(rope, scaling.originalContextLength, slowRotations);
      if (roundsBorders) [first, last] = [Math.floor(first), Math.ceil(last)];
      first = Math.max(first, 0);
      last = Math.min(last, rope.size - 1);
      // As in transformers: a ramp needs a length.
      const length = last === first ? 0.001 : last - first;
      const slowed = Math.min(Math.max((index - first) / length, 0), 1);
      return blend(frequency, frequency / factor, slowed);
    }
  }
}

function factorsFor(scaling: LongRope, contextLength: number): readonly number[] {
  return choosesLongFactors(scaling, contextLength) ? scaling.longFactors : scaling.shortFactors;
}

/** The pair, as a fraction, that turns `rotations` times in a context. */
function pairOfRotations({ theta, size }: RopeConfig, contextLength: number, rotations: number): number {
  return (size * Math.log(contextLength / (rotations * 2 * Math.PI))) / (2 * Math.log(theta));
}

function blend(from: number, to: number, share: number): number {
  return (1 - share) * from + share * to;
}
