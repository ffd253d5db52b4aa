import { describe, expect, test } from 'vitest';
import { readDefaultMaxTokens, readSamplingDefaults } from './sampling-defaults.ts';

describe('generation_config.json', () => {
  test('gives the sampling fields and nothing else', () => {
    const config = { temperature: 0.6, top_p: 0.95, top_k: 20, min_p: null, do_sample: true };
    expect(readSamplingDefaults(config)).toEqual({ temperature: 0.6, topP: 0.95, topK: 20 });
    const penalties = { repetition_penalty: 1.05, frequency_penalty: 0.5, presence_penalty: -1, seed: 3 };
    expect(readSamplingDefaults(penalties)).toEqual({
      repetitionPenalty: 1.05,
      frequencyPenalty: 0.5,
      presencePenalty: -1,
    });
  });

  test('turns top-k off with 0 and with -1', () => {
    expect(readSamplingDefaults({ top_k: 0 })).toEqual({ topK: 0 });
    expect(readSamplingDefaults({ top_k: -1 })).toEqual({ topK: 0 });
  });

  test.each([
    [{ top_p: 7 }, 'top_p must be above 0 and at most 1; got 7.'],
    [{ top_k: -2 }, 'top_k must be a whole number, 0 is off; got -2.'],
    [{ temperature: -0.1 }, 'temperature must be 0 to 2; got -0.1.'],
    [{ temperature: '0.6' }, 'temperature must be 0 to 2; got "0.6".'],
    [{ min_p: 1.5 }, 'min_p must be 0 to 1; got 1.5.'],
    [{ repetition_penalty: 0 }, 'repetition_penalty must be a finite number above 0; got 0.'],
  ])('with %j is refused when the model is loaded', (config, fault) => {
    const message = `generation_config.json of the model folder: ${fault}`;
    expect(() => readSamplingDefaults(config)).toThrow(
      expect.objectContaining({ code: 'model_invalid', message }),
    );
  });

  test('gives the most new tokens as a whole number or not at all', () => {
    expect(readDefaultMaxTokens({ max_new_tokens: 5 })).toBe(5);
    expect(readDefaultMaxTokens({ max_new_tokens: null })).toBeUndefined();
    for (const value of [0.5, 0, -1, '5']) {
      expect(() => readDefaultMaxTokens({ max_new_tokens: value })).toThrow(
        expect.objectContaining({ code: 'model_invalid' }),
      );
    }
  });
});
