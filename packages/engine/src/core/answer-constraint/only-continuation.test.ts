import {
  LETTER_COLUMN_COUNT,
  LETTER_ENDS,
  letterId,
  letterVocabulary,
} from '@ortler/structured-output/testing';
import { describe, expect, it } from 'vitest';
import { onlyContinuation } from './only-continuation.ts';

function continuation(...ids: readonly number[]): number | undefined {
  const mask = new Uint32Array(Math.ceil(LETTER_COLUMN_COUNT / 32));
  for (const id of ids) mask[id >>> 5]! |= 1 << (id & 31);
  return onlyContinuation(letterVocabulary, mask);
}
const ofTexts = (...texts: string[]) => continuation(...texts.map(letterId));

describe('the only continuation', () => {
  it('is the longest token when all others begin it', () => {
    expect(ofTexts('a')).toBe(letterId('a'));
    expect(ofTexts('a', 'ab', 'abc')).toBe(letterId('abc'));
    expect(ofTexts('{', '{"')).toBe(letterId('{"'));
  });

  it('is none where tokens disagree, the text may end, or nothing may come', () => {
    expect(ofTexts('a', 'b')).toBeUndefined();
    expect(ofTexts('a', 'ab', 'cd')).toBeUndefined();
    expect(continuation(letterId('a'), LETTER_ENDS[0])).toBeUndefined();
    expect(continuation(LETTER_ENDS[0])).toBeUndefined();
    expect(continuation()).toBeUndefined();
  });

  it('is a special token only where nothing else may come', () => {
    expect(ofTexts('</think>')).toBe(letterId('</think>'));
    expect(ofTexts('</think>', 'a')).toBeUndefined();
  });
});
