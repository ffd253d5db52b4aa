import { describe, expect, it } from 'vitest';
import {
  byteLevel,
  errorOf,
  type MadeUpToken,
  readChanged,
  sentencePiece,
  vocabulary,
} from '../../test/made-up-metadata.ts';
import { PRE_TOKENIZER_NAMES } from './pre-tokenizers.ts';
import type { GgufTokenizer } from './read-tokenizer.ts';

describe('the kind of tokenizer', () => {
  it.each(['t5', 'bert', 'rwkv', 'plamo2'])('is refused by its name when it is not served: %s', name => {
    const error = errorOf(() => readChanged(byteLevel(), { 'tokenizer.ggml.model': name }));
    expect(error.code).toBe('unsupported');
    expect(error.key).toBe('tokenizer.ggml.model');
    expect(error.message).toBe(
      `model.gguf, metadata key "tokenizer.ggml.model": the tokenizer "${name}" is not supported; supported: gpt2, llama, gemma4`,
    );
  });

  it('is refused when the file has none', () => {
    const error = errorOf(() => readChanged(byteLevel(), { 'tokenizer.ggml.model': undefined }));
    expect(error).toMatchObject({ code: 'corrupt', key: 'tokenizer.ggml.model', file: 'model.gguf' });
  });
});

describe('the pre-tokenizer', () => {
  it('is refused by its name when it is unknown, with the names that are known', () => {
    const error = errorOf(() => readChanged(byteLevel(), { 'tokenizer.ggml.pre': 'no-such' }));
    expect(error).toMatchObject({ code: 'unsupported', key: 'tokenizer.ggml.pre' });
    expect(error.message).toContain(
      `the pre-tokenizer "no-such" is unknown; supported: ${PRE_TOKENIZER_NAMES.join(', ')}`,
    );
  });

  it('is not taken from the prototype of the table', () => {
    expect(errorOf(() => readChanged(byteLevel(), { 'tokenizer.ggml.pre': 'constructor' })).code).toBe(
      'unsupported',
    );
  });

  it('is never assumed', () => {
    const error = errorOf(() => readChanged(byteLevel(), { 'tokenizer.ggml.pre': undefined }));
    expect(error).toMatchObject({ code: 'unsupported', key: 'tokenizer.ggml.pre' });
  });

  it('does not matter to SentencePiece vocabularies', () => {
    expect(
      readChanged(sentencePiece(), { 'tokenizer.ggml.pre': 'no-such' }).tokenizer.pre_tokenizer,
    ).toBeNull();
  });
});

describe('the vocabulary', () => {
  it('takes ids as 64-bit integers too', () => {
    expect(readChanged(byteLevel(), { 'tokenizer.ggml.eos_token_id': 1n }).config.eos_token).toBe(
      '<|im_end|>',
    );
  });

  it('leaves out its padding: empty texts, and those that converters write', () => {
    const tokens: MadeUpToken[] = [
      ['a'],
      [''],
      ['', 'unused'],
      ['[PAD3]', 'unused'],
      ['[PAD4]', 'userDefined'],
      ['[PAD6]', 'unused'],
      ['[PAD6] '],
      ['[PAD7]'],
    ];
    const made = readChanged(vocabulary('gpt2', tokens), {
      'tokenizer.ggml.merges': [],
      'tokenizer.ggml.pre': 'gpt-2',
    });
    expect({ ...made.tokenizer.model.vocab }).toEqual({ a: 0, '[PAD6]': 5, '[PAD6] ': 6, '[PAD7]': 7 });
    expect(made.tokenizer.added_tokens).toEqual([]);
  });

  it('keeps tokens that are names of JavaScript', () => {
    const made = readChanged(vocabulary('gpt2', [['__proto__'], ['constructor'], ['toString']]), {
      'tokenizer.ggml.merges': [],
      'tokenizer.ggml.pre': 'gpt-2',
    });
    expect(Object.entries(JSON.parse(JSON.stringify(made.tokenizer)).model.vocab)).toEqual([
      ['__proto__', 0],
      ['constructor', 1],
      ['toString', 2],
    ]);
  });
});

describe('the tokens around a text', () => {
  const template = (made: GgufTokenizer) => made.tokenizer.post_processor?.single ?? null;
  const text = { Sequence: { id: 'A', type_id: 0 } };
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });

  it('are none where the file and the pre-tokenizer name none', () => {
    const made = readChanged(byteLevel());
    expect(template(made)).toBeNull();
    expect(made.config).toMatchObject({ add_bos_token: false, add_eos_token: false });
  });

  it('are those that the file asks for', () => {
    const both = { 'tokenizer.ggml.add_bos_token': true, 'tokenizer.ggml.add_eos_token': true };
    const made = readChanged(byteLevel(), both);
    expect(template(made)).toEqual([token('<|im_start|>'), text, token('<|im_end|>')]);
    expect(made.tokenizer.post_processor?.special_tokens).toEqual({
      '<|im_start|>': { id: '<|im_start|>', ids: [0], tokens: ['<|im_start|>'] },
      '<|im_end|>': { id: '<|im_end|>', ids: [1], tokens: ['<|im_end|>'] },
    });
    expect(made.config).toMatchObject({ add_bos_token: true, add_eos_token: true });
  });

  it('follow the family where the file says nothing', () => {
    expect(template(readChanged(byteLevel(), { 'tokenizer.ggml.pre': 'llama-bpe' }))).toEqual([
      token('<|im_start|>'),
      text,
    ]);
    expect(template(readChanged(sentencePiece()))).toEqual([token('<s>'), text]);
  });

  it('follow the file against the family', () => {
    const none = { 'tokenizer.ggml.add_bos_token': false };
    expect(template(readChanged(sentencePiece(), none))).toBeNull();
    expect(template(readChanged(byteLevel(), { ...none, 'tokenizer.ggml.pre': 'tekken' }))).toBeNull();
  });

  it('have the first one in Gemma 4, whose first files denied it', () => {
    const made = readChanged(sentencePiece(), {
      'tokenizer.ggml.model': 'gemma4',
      'tokenizer.ggml.merges': [],
      'tokenizer.ggml.bos_token_id': 1,
      'tokenizer.ggml.add_bos_token': false,
    });
    expect(template(made)).toEqual([token('<s>'), text]);
  });
});

describe('chat templates', () => {
  it('are absent where the file has none', () => {
    expect(readChanged(byteLevel()).config).not.toHaveProperty('chat_template');
  });

  it('are a text where the file has one', () => {
    expect(readChanged(byteLevel(), { 'tokenizer.chat_template': 'x' }).config.chat_template).toBe('x');
  });

  it('are a list with the default one first where the file has named ones', () => {
    const made = readChanged(byteLevel(), {
      'tokenizer.chat_template.tool_use': 't',
      'tokenizer.chat_template.rag': 'r',
      'tokenizer.chat_templates': ['tool_use', 'rag'],
      'tokenizer.chat_template': 'x',
    });
    expect(made.config.chat_template).toEqual([
      { name: 'default', template: 'x' },
      { name: 'tool_use', template: 't' },
      { name: 'rag', template: 'r' },
    ]);
  });
});
