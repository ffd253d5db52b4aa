// Forced text through the demo model's real tokenizer.

import { describe, expect, it } from 'vitest';
import { chooseForcedTokens } from '../../src/core/constraint/forced-tokens.ts';
import { demoEngine, demoTokenizer } from './demo-vocabulary.ts';

const encode = (text: string) => demoTokenizer.encode(text, { addSpecialTokens: false });
const regex = (text: string) => demoEngine.compile({ kind: 'regex', text });

describe('chooseForcedTokens', () => {
  it('gives the tokens that the tokenizer makes of the text, but for the last', () => {
    const text = 'the answer to all questions is ';
    const forced = chooseForcedTokens(regex(`${text}[0-9]+`), 100, encode);
    expect(forced).toEqual(encode(text).slice(0, -1));
    expect(forced.length).toBeGreaterThan(2);
  });

  it('gives none where there is a choice or the text may end', () => {
    for (const pattern of ['yes, please|no', 'a*', '[ab]longer text'])
      expect(chooseForcedTokens(regex(pattern), 100, encode)).toEqual([]);
  });

  it('gives none when the tokenizer changes the text', () => {
    const matcher = regex('some forced text');
    expect(chooseForcedTokens(matcher, 100, text => encode(text.toUpperCase()))).toEqual([]);
  });

  it('goes no further than asked, and leaves the matcher where it was', () => {
    const matcher = regex('one two three four five six');
    const few = chooseForcedTokens(matcher, 8, encode);
    const many = chooseForcedTokens(matcher, 100, encode);
    expect(few.length).toBeLessThan(many.length);
    expect(matcher.countFitting(many)).toBe(many.length);
  });

  it('keeps characters of several bytes whole', () => {
    const forced = chooseForcedTokens(regex('日本語(?:a|b)'), 100, encode);
    expect(forced).toEqual(encode('日本語').slice(0, -1));
  });
});
