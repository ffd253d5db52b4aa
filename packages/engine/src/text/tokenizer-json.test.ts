import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseTokenizer } from '../../test/parse-tokenizer.ts';
import { parseTokenizerJson, readJson, withConfiguredTokens } from './tokenizer-json.ts';

const withVocab = (id: unknown) => ({ model: { type: 'BPE', vocab: { a: 0, b: id }, merges: [] } });
const withAdded = (id: unknown) => ({ ...withVocab(1), added_tokens: [{ id, content: '<x>' }] });

describe('tokenizer.json', () => {
  test.each(['zero', -1, 0.5, 1e12, null])('with the token id %j is refused, and the token is named', id => {
    expect(() => parseTokenizer(withVocab(id))).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining('"b"') }),
    );
    expect(() => parseTokenizer(withAdded(id))).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining('added_tokens[0]') }),
    );
  });

  test('with whole numbers as ids is taken', () => {
    expect(parseTokenizer(withAdded(2)).added_tokens[0]).toMatchObject({ id: 2, content: '<x>' });
  });

  test('gives an added token the id that the vocabulary has for it, and refuses one that others have', () => {
    const added = (...tokens: readonly (readonly [string, number])[]) =>
      parseTokenizer({
        ...withVocab(1),
        added_tokens: tokens.map(([content, id]) => ({ content, id })),
      }).added_tokens.map(({ id }) => id);
    expect(added(['b', 5], ['<x>', 7])).toEqual([1, 7]);
    expect(() => added(['<x>', 1])).toThrow('the added token "<x>" has the id 1 of "b"');
    expect(() => added(['<x>', 2], ['<y>', 2])).toThrow('the added token "<y>" has the id 2 of "<x>"');
  });
});

test('config.json may have the numbers that only Python writes; the text around them stays', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ortler-tokenizer-'));
  const write = (text: string) => writeFileSync(join(folder, 'config.json'), text);
  write('{"time_step_limit": [0.0, Infinity], "low": -Infinity, "name": "to \\"Infinity\\", NaN"}');
  expect(await readJson(folder, 'config.json')).toEqual({
    time_step_limit: [0, null],
    low: null,
    name: 'to "Infinity", NaN',
  });
  write('{"a": Infinity');
  await expect(readJson(folder, 'config.json')).rejects.toThrow(
    'config.json of the model folder is unusable',
  );
  rmSync(folder, { recursive: true });
});

describe('added tokens of tokenizer_config.json', () => {
  const tokenizer = parseTokenizer(withAdded(2));

  test('take the place of those with the same text, and others join them', () => {
    const configured = {
      2: { content: '<x>', rstrip: true, special: true },
      3: { content: '<y>', special: true },
    };
    const { added_tokens: tokens } = withConfiguredTokens(tokenizer, configured);
    expect(tokens).toEqual([
      {
        id: 2,
        content: '<x>',
        single_word: false,
        lstrip: false,
        rstrip: true,
        normalized: false,
        special: true,
      },
      expect.objectContaining({ id: 3, content: '<y>', rstrip: false }),
    ]);
  });

  test('have the id of the vocabulary where it has them', () => {
    const { added_tokens: tokens } = withConfiguredTokens(tokenizer, { 9: { content: 'a' } });
    expect(tokens.map(({ id }) => id)).toEqual([2, 0]);
    expect(() => withConfiguredTokens(tokenizer, { 1: { content: '<z>' } })).toThrow(
      'tokenizer_config.json of the model folder is unusable: the added token "<z>" has the id 1 of "b"',
    );
  });

  test('are refused with their place when they are not valid', () => {
    for (const entry of [null, {}, { content: 1 }])
      expect(() => withConfiguredTokens(tokenizer, { 5: entry })).toThrow('"added_tokens_decoder.5"');
    expect(() => withConfiguredTokens(tokenizer, { five: { content: '<z>' } })).toThrow(
      'tokenizer_config.json',
    );
  });
});

describe('a tokenizer.json that is not supported or not whole is refused by what is wrong', () => {
  const model = { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: ['a b'] };

  test.each([
    [{}, '"model"'],
    [{ model: 1 }, '"model"'],
    [{ model: { type: 'Unigram', vocab: [['a', 0]] } }, 'Unigram'],
    [{ model: { type: 'WordPiece', vocab: { a: 0 } } }, 'WordPiece'],
    [{ model: { ...model, end_of_word_suffix: '</w>' } }, 'end_of_word_suffix'],
    [{ model: { ...model, dropout: 0.1 } }, 'dropout'],
    [{ model: { ...model, vocab: [] } }, 'model.vocab'],
    [{ model: { ...model, merges: {} } }, 'model.merges'],
    [{ model: { ...model, merges: ['a b', 'a c'] } }, 'model.merges[1]'],
    [
      {
        model: {
          ...model,
          merges: [
            ['a', 'b'],
            ['b', 'a'],
          ],
        },
      },
      'model.merges[1]',
    ],
    [{ model: { ...model, merges: ['a b c'] } }, 'model.merges[0]'],
    [{ model: { ...model, merges: ['ab'] } }, 'model.merges[0]'],
    [{ model, added_tokens: 1 }, 'added_tokens'],
    [{ model, decoder: 'x' }, 'decoder'],
  ])('%j', (json, named) => {
    expect(() => parseTokenizer(json)).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining(named) }),
    );
  });

  test.each([
    '',
    '{',
    '[1]',
    '{"model": {"vocab": {"a": 0, "merges": []}',
    '{"model": {"vocab": {"\\ud800": 0}, "merges": []}}',
  ])('the text %j', text => {
    expect(() => parseTokenizerJson(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining('tokenizer.json') }),
    );
  });
});
