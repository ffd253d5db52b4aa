import { letterId, letterVocabulary } from '@ortler/structured-output/testing';
import { describe, expect, it } from 'vitest';
import { TriggerWatch, tokensAcrossTriggers } from './trigger-watch.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const states = (position: 'anywhere' | 'start', triggers: readonly string[], tokens: readonly string[]) => {
  const watch = new TriggerWatch(letterVocabulary, { texts: triggers.map(bytes), position });
  return [watch.first, ...tokens.map(token => watch.push(letterId(token)))].join(' ');
};

describe('TriggerWatch', () => {
  it('sees a trigger in any tokens, and its beginning', () => {
    expect(states('anywhere', ['bcd'], ['h', 'ab', 'ab', 'cd'])).toBe('free free near near hit');
    expect(states('anywhere', ['bcd'], ['abc', 'd'])).toBe('free near hit');
    expect(states('anywhere', ['bb', 'cd'], ['b', 'a', 'c', 'cd'])).toBe('free near free near hit');
  });

  it('looks at the start only where a trigger counts there', () => {
    expect(states('start', ['ab"', 'ac'], ['ab', '"'])).toBe('near near hit');
    expect(states('start', ['ab"', 'ac'], ['ab', 'c'])).toBe('near near over');
    expect(states('start', ['ab'], ['h', 'ab'])).toBe('near over over');
  });

  it('goes on in a copy', () => {
    const watch = new TriggerWatch(letterVocabulary, { texts: [bytes('ab')], position: 'anywhere' });
    watch.push(letterId('a'));
    expect(watch.fork().push(letterId('b'))).toBe('hit');
    expect(watch.push(letterId('c'))).toBe('free');
  });
});

it('finds the tokens that reach beyond a trigger', () => {
  expect(tokensAcrossTriggers(letterVocabulary, [bytes('ab')])).toEqual([letterId('abc')]);
  expect(tokensAcrossTriggers(letterVocabulary, [bytes('abc'), bytes('{')])).toEqual([letterId('{"')]);
  // Not one that begins in a token and ends in the next.
  expect(tokensAcrossTriggers(letterVocabulary, [bytes('ba')])).toEqual([]);
});
