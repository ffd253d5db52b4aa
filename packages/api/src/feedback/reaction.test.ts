import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeReaction, isSingleEmoji } from './reaction.ts';

const { names, versions } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../test/golden/emoji-names.json'), 'utf8'),
) as { names: Record<string, string>; versions: Record<string, string> };

it('knows every emoji by the name of the golden file', () => {
  expect(versions.emoji).toMatch(/^\d/);
  const wrong = Object.entries(names).filter(
    ([emoji, name]) => !isSingleEmoji(emoji) || describeReaction(emoji).alias !== `:${name}:`,
  );
  expect(wrong).toEqual([]);
  expect(Object.keys(names).length).toBeGreaterThan(5_000);
});

it('names an emoji with and without its skin tone', () => {
  expect(describeReaction('👍🏽')).toEqual({
    alias: ':thumbs_up_medium_skin_tone:',
    detoned: '👍',
    detoned_alias: ':thumbs_up:',
  });
});

it.each(['', 'a', '👍👍', '👍🏽🏽', '🏽👍', '❤🏽', '👍 ', '1', '👨‍', '\u200d', '👍'.repeat(40)])(
  'takes %j for no single emoji',
  text => {
    expect(isSingleEmoji(text)).toBe(false);
  },
);
