import { describe, expect, test } from 'vitest';
import { createNormalizer } from './normalizer.ts';
import { createPreTokenizer } from './pre-tokenizer.ts';
import type { StageJson } from './stage.ts';
import { readTextTemplate } from './text-template.ts';

describe('a stage that is not computed as the original computes it is refused by name', () => {
  test.each([
    [createNormalizer, { type: 'Precompiled' }, 'Precompiled'],
    [createNormalizer, { type: 'Sequence', normalizers: [{ type: 'NFC' }, { type: 'Nmt' }] }, 'Nmt'],
    [createNormalizer, { type: 'Replace', content: 'a' }, 'Replace pattern'],
    [
      createNormalizer,
      { type: 'Replace', pattern: { String: 'a' }, content: 'a'.repeat(65) },
      '65 characters',
    ],
    [createNormalizer, { type: 'Prepend', prepend: 'a'.repeat(65) }, '65 characters'],
    [createNormalizer, { type: 'Replace', pattern: { Regex: '(a|a)*b' }, content: '' }, '(a|a)*b'],
    [createPreTokenizer, { type: 'BertPreTokenizer' }, 'BertPreTokenizer'],
    [createPreTokenizer, { type: 'Sequence' }, 'Sequence'],
    [createPreTokenizer, { type: 'Split', pattern: { Regex: 'a' }, behavior: 'Doubled' }, 'Doubled'],
    [createPreTokenizer, { type: 'Split', behavior: 'Isolated' }, 'Split pattern'],
    [createPreTokenizer, { type: 'Metaspace', prepend_scheme: 'last' }, 'prepend_scheme'],
    [readTextTemplate, { type: 'BertProcessing' }, 'BertProcessing'],
    [readTextTemplate, { type: 'TemplateProcessing', single: [], special_tokens: {} }, 'TemplateProcessing'],
    [
      readTextTemplate,
      {
        type: 'TemplateProcessing',
        single: [{ SpecialToken: { id: 't' } }, { Sequence: { id: 'A' } }],
        special_tokens: { t: { id: 't', ids: Array(65).fill(1) } },
      },
      '65 tokens',
    ],
    [
      readTextTemplate,
      { type: 'TemplateProcessing', single: [null, { Sequence: {} }] },
      'TemplateProcessing',
    ],
    [
      readTextTemplate,
      {
        type: 'TemplateProcessing',
        single: [{ SpecialToken: { id: '<s>' } }, { Sequence: { id: 'A' } }],
        special_tokens: {},
      },
      '<s>',
    ],
  ])('%o %j', (create, stage, named) => {
    expect(() => (create as (stage: StageJson) => unknown)(stage)).toThrow(
      expect.objectContaining({ code: 'model_invalid', message: expect.stringContaining(named) }),
    );
  });
});

test('post-processors put their tokens around each other', () => {
  const around = (id: number) => ({
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: 't' } }, { Sequence: { id: 'A' } }, { SpecialToken: { id: 't' } }],
    special_tokens: { t: { id: 't', ids: [id, id + 1] } },
  });
  const processors = [{ type: 'ByteLevel' }, around(3), around(7)];
  expect(readTextTemplate({ type: 'Sequence', processors })).toEqual({
    prefixIds: [7, 8, 3, 4],
    suffixIds: [3, 4, 7, 8],
  });
});

describe('a pattern that matches nothing cuts where the original cuts', () => {
  test.each([
    ['(?=(\\d{3})+(?!\\d))', 'Isolated', 'a1234567 89', ['a1', '234', '567 89']],
    ['\\b', 'Isolated', 'ab, c', ['ab', ', ', 'c']],
    ['\\A|\\z', 'Isolated', '😀a', ['😀a']],
    ['$', 'MergedWithNext', 'a😀b😀\nc', ['a😀b😀', '\nc']],
    ['x*|$', 'MergedWithNext', 'xxa xb', ['xxa', ' ', 'xb']],
    ['x*', 'Contiguous', 'xxa xb', ['xx', 'a', ' ', 'x', 'b']],
    ['(?=\\p{Lu})', 'MergedWithPrevious', 'aBcD', ['a', 'Bc', 'D']],
    ['\\B', 'Isolated', 'a😀b', ['a😀b']],
    ['(?<!a)', 'MergedWithNext', 'a😀b', ['a😀', 'b']],
  ])('%s %s', (Regex, behavior, text, pieces) => {
    const split = createPreTokenizer({ type: 'Split', pattern: { Regex }, behavior });
    expect(split(text, true)).toEqual(pieces);
  });
});

test('a replaced pattern that matches nothing adds nothing directly after another match', () => {
  const replace = createNormalizer({ type: 'Replace', pattern: { Regex: 'x*' }, content: '-' })!;
  expect(replace('xxaé😀x')).toBe('-a-é-😀-');
});

test('a normalizer that makes texts ever longer is stopped', () => {
  const twice = { type: 'Replace', pattern: { String: 'a' }, content: 'a'.repeat(8) };
  const normalize = createNormalizer({ type: 'Sequence', normalizers: Array(12).fill(twice) })!;
  expect(normalize('b')).toBe('b');
  expect(() => normalize('a'.repeat(100))).toThrow(
    expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining('64 times') }),
  );
});
