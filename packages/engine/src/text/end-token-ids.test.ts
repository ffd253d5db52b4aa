import { expect, test } from 'vitest';
import { readEndTokenIds } from './end-token-ids.ts';

test('the named token comes first, then those of generation_config.json, each once', () => {
  expect(readEndTokenIds(2, { eos_token_id: [1, 2, 106] }, { eos_token_id: 7 })).toEqual([2, 1, 106]);
  expect(readEndTokenIds(null, { eos_token_id: 1 }, {})).toEqual([1]);
});

test('config.json is asked where generation_config.json names none, and its text_config after it', () => {
  expect(readEndTokenIds(null, {}, { eos_token_id: [3, 4], text_config: { eos_token_id: 5 } })).toEqual([
    3, 4,
  ]);
  expect(readEndTokenIds(9, { eos_token_id: null }, { text_config: { eos_token_id: [5, 6] } })).toEqual([
    9, 5, 6,
  ]);
  expect(readEndTokenIds(9, {}, {})).toEqual([9]);
});

test('-1 names no token; other shapes are refused by the name of the file', () => {
  expect(readEndTokenIds(null, { eos_token_id: -1 }, {})).toEqual([]);
  for (const entry of ['</s>', [1, null], 0.5, {}, Array(1_025).fill(1)])
    expect(() => readEndTokenIds(null, {}, { text_config: { eos_token_id: entry } })).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining('text_config') }),
    );
});
