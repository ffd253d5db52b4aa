import { describe, expect, it } from 'vitest';
import type { RopeScaling } from '../hugging-face/rope.ts';
import { rotaryFrequencies, rotaryRows } from './rotary.ts';

const frequenciesOf = (scaling: RopeScaling, size: number, contextLength = 100) =>
  rotaryFrequencies({ theta: 10_000, size, isInterleaved: false, scaling }, contextLength);

describe('rotary frequencies', () => {
  it('fall in a geometric series from 1 towards 1 over the base', () => {
    const frequencies = frequenciesOf({ kind: 'none' }, 8);
    expect([...frequencies]).toEqual([1, 0.1, 0.01, 0.001].map(Math.fround));
  });

  it('are divided by the factor with linear scaling', () => {
    const frequencies = frequenciesOf({ kind: 'linear', factor: 4 }, 4);
    expect([...frequencies]).toEqual([0.25, 0.0025].map(Math.fround));
  });

  it('are divided by a factor each where a file has factors', () => {
    const scaling = { kind: 'factors', factors: [1, 2, 4, 8] } as const;
    const frequencies = frequenciesOf(scaling, 8);
    expect([...frequencies]).toEqual([1, 0.05, 0.0025, 0.000125].map(Math.fround));
  });

  it('have the long factors of LongRoPE in a model for contexts above the original length', () => {
    const scaling = {
      kind: 'longrope',
      shortFactors: [1, 2, 4, 8],
      longFactors: [10, 10, 10, 10],
      originalContextLength: 64,
      amplitude: 1,
    } as const;
    expect([...frequenciesOf(scaling, 8, 64)]).toEqual([1, 0.05, 0.0025, 0.000125].map(Math.fround));
    expect([...frequenciesOf(scaling, 8, 65)]).toEqual([0.1, 0.01, 0.001, 0.0001].map(Math.fround));
  });

  it('keep short waves, slow long ones and blend in between with llama3 scaling', () => {
    const scaling = {
      kind: 'llama3',
      factor: 8,
      lowFrequencyFactor: 1,
      highFrequencyFactor: 4,
      originalContextLength: 100,
    } as const;
    const [short, middle, long] = frequenciesOf(scaling, 8);
    expect(short).toBe(1);
    // Wavelength 62.8 of 100: (100 / 62.8 - 1) / 3 of the way from slowed to kept.
    const share = (100 / (2 * Math.PI * 10) - 1) / 3;
    expect(middle).toBeCloseTo((0.1 * (1 - share)) / 8 + 0.1 * share, 7);
    expect(long).toBeCloseTo(0.01 / 8, 9);
  });
});

it('gives the same rows whether a table is made whole or in pieces', () => {
  const frequencies = frequenciesOf({ kind: 'none' }, 8);
  const whole = rotaryRows(frequencies, 0, 10);
  const piece = rotaryRows(frequencies, 6, 10);
  expect(piece.cosine).toEqual(whole.cosine.slice(24));
  expect(piece.sine).toEqual(whole.sine.slice(24));
});
