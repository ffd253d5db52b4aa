import { describe, expect, test } from 'vitest';
import { chooseGguf, hasGguf, listQuants } from './gguf-files.ts';

const choose = (paths: readonly string[], quant?: string) => chooseGguf('org/model', paths, quant).paths;

describe('the GGUF file of a repository', () => {
  test('is Q4_K_M, then Q8_0, then the first', () => {
    const all = ['m-BF16.gguf', 'm-Q2_K.gguf', 'm-Q4_K_M.gguf', 'm-Q8_0.gguf'];
    expect(choose(all)).toEqual(['m-Q4_K_M.gguf']);
    expect(choose(all.filter(path => !path.includes('Q4_K_M')))).toEqual(['m-Q8_0.gguf']);
    expect(choose(['m-Q2_K.gguf', 'm-BF16.gguf'])).toEqual(['m-Q2_K.gguf']);
    expect(choose(['model.gguf'])).toEqual(['model.gguf']);
  });

  test('is found by its quantisation in any case, as a part of its own', () => {
    const all = ['m-BF16.gguf', 'm-F16.gguf', 'm-IQ4_NL.gguf', 'm-Q4_K_M.gguf', 'm.q4_0.gguf'];
    expect(choose(all, 'q4_k_m')).toEqual(['m-Q4_K_M.gguf']);
    expect(choose(all, 'F16')).toEqual(['m-F16.gguf']);
    expect(choose(all, 'Q4_0')).toEqual(['m.q4_0.gguf']);
    expect(() => choose(all, 'Q4_K')).toThrow('It has BF16, F16, IQ4_NL, Q4_K_M, Q4_0.');
  });

  test('is found in a folder that is named after its quantisation', () => {
    const shards = [
      'UD-Q4_K_XL/m-UD-Q4_K_XL-00001-of-00002.gguf',
      'UD-Q4_K_XL/m-UD-Q4_K_XL-00002-of-00002.gguf',
    ];
    expect(choose([...shards, 'm-Q8_0.gguf'], 'UD-Q4_K_XL')).toEqual(shards);
  });

  test('comes with all of its shards, in their order', () => {
    const shards = [1, 2, 3].map(i => `m-Q8_0-0000${i}-of-00003.gguf`);
    expect(choose([shards[2]!, shards[0]!, 'm-Q4_0.gguf', shards[1]!], 'Q8_0')).toEqual(shards);
    expect(() => choose([shards[0]!, shards[2]!], 'Q8_0')).toThrow('lacks m-Q8_0-00002-of-00003.gguf');
  });

  test('is not an image encoder, importance matrix or draft head', () => {
    const others = ['mmproj-Q8_0.gguf', 'm-imatrix.gguf', 'mtp-Q4_K_M.gguf', 'x/mmproj-model-f16.gguf'];
    expect(hasGguf(others)).toBe(false);
    expect(choose([...others, 'm-Q2_K.gguf'])).toEqual(['m-Q2_K.gguf']);
    expect(() => choose(others, 'Q8_0')).toThrow('It has no GGUF file.');
  });

  test('names its quantisations once', () => {
    const paths = ['m-Q8_0-00001-of-00002.gguf', 'm-Q8_0-00002-of-00002.gguf', 'a/m-q4_0.gguf', 'README.md'];
    expect(listQuants(paths)).toEqual(['Q8_0', 'Q4_0']);
  });
});
