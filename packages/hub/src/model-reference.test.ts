import { describe, expect, test } from 'vitest';
import { formatModelReference, isModelReference, parseModelReference } from './model-reference.ts';

describe('a model reference', () => {
  test.each([
    ['Qwen/Qwen3-0.6B', { repository: 'Qwen/Qwen3-0.6B', revision: 'main' }],
    ['org/model@v1.0', { repository: 'org/model', revision: 'v1.0' }],
    ['org/model@refs/pr/3', { repository: 'org/model', revision: 'refs/pr/3' }],
    ['org/model-GGUF:Q4_K_M', { repository: 'org/model-GGUF', revision: 'main', quant: 'Q4_K_M' }],
    ['org/model@dev:UD-Q4_K_XL', { repository: 'org/model', revision: 'dev', quant: 'UD-Q4_K_XL' }],
    ['hf.co/org/model', { repository: 'org/model', revision: 'main' }],
    ['hf.co/org/model:q8_0', { repository: 'org/model', revision: 'main', quant: 'q8_0' }],
    ['https://huggingface.co/org/model/', { repository: 'org/model', revision: 'main' }],
    ['https://huggingface.co/org/model/tree/v2', { repository: 'org/model', revision: 'v2' }],
  ])('%s is read', (text, expected) => {
    expect(parseModelReference(text)).toEqual(expected);
  });

  test.each([
    'model',
    './org/model',
    '../org/model',
    '/org/model',
    'a/b/c',
    'org/model.gguf',
    'org/model.git',
    'org--x/model',
    'org/mo..del',
    '.org/model',
    'org/model@',
    'org/model@a..b',
    'org/model@/etc',
    'org/model:',
    'org/model:Q4/../x',
    'org/mo del',
    'C:\\models\\x',
    `org/${'m'.repeat(96)}`,
    'What is TCP/IP?',
    '',
  ])('%j is none', text => {
    expect(isModelReference(text)).toBe(false);
    expect(() => parseModelReference(text)).toThrow(expect.objectContaining({ code: 'reference_invalid' }));
  });

  test('is written in its shortest form', () => {
    for (const text of ['org/model', 'org/model@v1', 'org/model:Q8_0', 'org/model@v1:Q8_0'])
      expect(formatModelReference(parseModelReference(text))).toBe(text);
    expect(formatModelReference(parseModelReference('hf.co/org/model@main'))).toBe('org/model');
  });
});
