import { describe, expect, it } from 'vitest';
import {
  byteLevel,
  type Changes,
  type MadeUpToken,
  readChanged,
  sentencePiece,
  vocabulary,
} from '../../test/made-up-metadata.ts';

describe('added tokens', () => {
  it('are the control, unknown and user-defined tokens in the order of their ids, the last kind not special', () => {
    const { added_tokens: added } = readChanged(sentencePiece()).tokenizer;
    expect(added.map(({ id, content, special }) => [id, content, special])).toEqual([
      [0, '<unk>', true],
      [1, '<s>', true],
      [2, '</s>', true],
      [3, '  ', false],
    ]);
    for (const token of added)
      expect(token).toMatchObject({ single_word: false, lstrip: false, rstrip: false, normalized: false });
  });

  it('have the tokens that end an answer or begin a text, whatever type the file gives them', () => {
    const { added_tokens: added } = readChanged(byteLevel(), {
      'tokenizer.ggml.token_type': undefined,
    }).tokenizer;
    expect(added.map(({ content, special }) => [content, special])).toEqual([
      ['<|im_start|>', true],
      ['<|im_end|>', true],
    ]);
  });

  it('drop white space after them in Phi-3, but for three', () => {
    const tokens: MadeUpToken[] = [
      ['<unk>', 'control'],
      ['<s>', 'control'],
      ['</s>', 'userDefined'],
      ['<|endoftext|>', 'control'],
      ['<|user|>', 'control'],
      ['a'],
    ];
    const phi3 = readChanged(vocabulary('llama', tokens), { 'general.architecture': 'phi3' }).tokenizer;
    expect(phi3.added_tokens.filter(({ rstrip }) => rstrip).map(({ content }) => content)).toEqual([
      '</s>',
      '<|user|>',
    ]);
    const llama = readChanged(vocabulary('llama', tokens), { 'general.architecture': 'llama' }).tokenizer;
    expect(llama.added_tokens.filter(({ rstrip }) => rstrip)).toEqual([]);
  });
});

describe('the end of an answer', () => {
  const endsOf = (tokens: MadeUpToken[], changes: Changes = {}) => {
    const made = readChanged(vocabulary('gpt2', tokens), {
      'tokenizer.ggml.merges': [],
      'tokenizer.ggml.pre': 'gpt-2',
      ...changes,
    });
    return made.generation.eos_token_id.map(id => tokens[id]![0]);
  };

  it('is at the tokens that the file names, in the order of sequence, turn and message', () => {
    const ids = {
      'tokenizer.ggml.eos_token_id': 2,
      'tokenizer.ggml.eot_token_id': 1,
      'tokenizer.ggml.eom_token_id': 0,
    };
    expect(endsOf([['x'], ['y'], ['z'], ['w']], ids)).toEqual(['z', 'y', 'x']);
  });

  it('is at tokens known by their text too, after the one that the file names', () => {
    const tokens: MadeUpToken[] = [['<|endoftext|>', 'control'], ['<|im_end|>', 'normal'], ['b']];
    expect(endsOf(tokens, { 'tokenizer.ggml.eos_token_id': 1 })).toEqual(['<|im_end|>', '<|endoftext|>']);
  });

  it('is not at HTML: </s> and the like count as control tokens only', () => {
    expect(endsOf([['</s>', 'userDefined'], ['<eos>', 'normal'], ['a']])).toEqual([]);
    expect(endsOf([['</s>', 'control'], ['<eos>', 'control'], ['a']])).toEqual(['</s>', '<eos>']);
  });

  it('is not at the end of a message where other tokens end the answer', () => {
    expect(
      endsOf([
        ['<|end|>', 'control'],
        ['<|return|>', 'control'],
        ['<|call|>', 'control'],
      ]),
    ).toEqual(['<|return|>', '<|call|>']);
    expect(
      endsOf([
        ['<|end|>', 'control'],
        ['<|user|>', 'control'],
      ]),
    ).toEqual(['<|end|>']);
  });

  it('is not at file separators and padding of code completion', () => {
    expect(
      endsOf([
        ['<|file_sep|>', 'control'],
        ['<|repo_name|>', 'control'],
        ['<|fim_pad|>', 'control'],
      ]),
    ).toEqual([]);
  });

  it('has the ids of SentencePiece where old files name none', () => {
    const made = readChanged(sentencePiece());
    expect(made.config).toMatchObject({ bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' });
    expect(made.generation).toEqual({ bos_token_id: 1, eos_token_id: [2] });
  });
});
