import { describe, expect, test } from 'vitest';
import { type AddedTokenJson, AddedTokenSplitter, type TextSection } from './added-tokens.ts';

const token = (id: number, content: string, more: Partial<AddedTokenJson> = {}): AddedTokenJson => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
  ...more,
});

function split(tokens: readonly AddedTokenJson[], text: string): (number | string)[] {
  const splitter = new AddedTokenSplitter(tokens, each => each.content);
  return splitter
    .split(text)
    .map((section: TextSection) => (section.kind === 'added' ? section.tokenId : section.text));
}

describe('added tokens', () => {
  test('are found at the longest match', () => {
    const tokens = [token(1, '<a>'), token(2, '<a>b'), token(3, 'b')];
    expect(split(tokens, 'x<a>b<a>c b')).toEqual(['x', 2, 1, 'c ', 3]);
  });

  test('eat the space beside them when they strip', () => {
    expect(split([token(1, '<l>', { lstrip: true })], 'a  <l>  b')).toEqual(['a', 1, '  b']);
    expect(split([token(1, '<r>', { rstrip: true })], 'a  <r> \n b')).toEqual(['a  ', 1, 'b']);
  });

  test('that are space are not found again in the space that the one before took', () => {
    const tokens = [token(1, '<r>', { rstrip: true }), token(2, '\n', { lstrip: true })];
    expect(split(tokens, 'a<r> \nb\n')).toEqual(['a', 1, 'b', 2]);
  });

  test('that stand for one word are not found inside another', () => {
    const word = [token(1, 'cat', { single_word: true })];
    expect(split(word, 'cat concat cats é-cat 😀cat')).toEqual([1, ' concat cats é-', 1, ' 😀', 1]);
  });

  test('leave other text whole, with where it starts', () => {
    const splitter = new AddedTokenSplitter([token(1, '<a>')], each => each.content);
    expect(splitter.split('x<a>y')).toEqual([
      { kind: 'plain', text: 'x', start: 0 },
      { kind: 'added', tokenId: 1 },
      { kind: 'plain', text: 'y', start: 4 },
    ]);
    expect(splitter.split('')).toEqual([]);
  });
});

test('added tokens that would fill the memory are refused', () => {
  const content = 'a'.repeat(2 ** 20 + 1);
  expect(() => split([token(1, content)], 'x')).toThrow(expect.objectContaining({ code: 'model_invalid' }));
});
