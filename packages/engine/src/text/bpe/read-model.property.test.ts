// The tables that are read from the bytes of tokenizer.json hold what JSON.parse reads.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { expect, test } from 'vitest';
import { readMerges, readVocabulary, splitTokenizerJson } from './read-model.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
const any = fc.jsonValue({ maxDepth: 3 });
const spacing = fc.constantFrom(undefined, 1, '\t');

test('every token has its id, every id its text, and the rest of the file is read as before', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(text),
      any,
      any,
      spacing,
      fc.boolean(),
      (tokens, before, after, indent, isAscii) => {
        const vocab = Object.fromEntries(tokens.map((token, i) => [token, (i * 7) % 1009]));
        const file = {
          before,
          model: { a: before, vocab, merges: [] as string[], z: after },
          after,
          vocab: after,
        };
        const json = JSON.stringify(file, null, indent);
        const escaped = isAscii ? json.replace(/[\u0080-\uffff]/g, unit => `\\u${hex(unit)}`) : json;
        const bytes = Buffer.from(escaped);
        const split = splitTokenizerJson(bytes);
        expect(split.rest).toEqual(
          JSON.parse(JSON.stringify({ ...file, model: { ...file.model, vocab: null, merges: null } })),
        );
        const vocabulary = readVocabulary(bytes, split.vocab);
        for (const [token, id] of Object.entries(vocab)) {
          expect(vocabulary.idOf(token)).toBe(id);
          expect(vocabulary.textOf(id)).toBe(token);
        }
        expect(vocabulary.size).toBe(Math.max(-1, ...Object.values(vocab)) + 1);
        expect(vocabulary.idOf('no such token')).toBeUndefined();
      },
    ),
    { numRuns: runs({ daily: 100, full: 1000 }) },
  );
});

function hex(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, '0');
}

test('merges are the same as lists of two and as texts with a space', () => {
  const vocab = { a: 0, b: 1, ab: 2, é: 3, abé: 4 };
  for (const merges of [
    ['a b', 'ab é'],
    [
      ['a', 'b'],
      ['ab', 'é'],
    ],
  ]) {
    const bytes = Buffer.from(JSON.stringify({ model: { vocab, merges } }));
    const split = splitTokenizerJson(bytes);
    const table = readMerges(bytes, split.merges, readVocabulary(bytes, split.vocab));
    expect([table.rankOf(0, 1), table.rankOf(2, 3), table.rankOf(1, 0)]).toEqual([0, 1, -1]);
    expect([table.mergedOf(0), table.mergedOf(1)]).toEqual([2, 4]);
  }
});

test('a pair that comes twice has its last rank', () => {
  const bytes = Buffer.from(
    JSON.stringify({ model: { vocab: { a: 0, b: 1, ab: 2, ba: 3 }, merges: ['a b', 'b a', 'a b'] } }),
  );
  const split = splitTokenizerJson(bytes);
  const table = readMerges(bytes, split.merges, readVocabulary(bytes, split.vocab));
  expect([table.rankOf(0, 1), table.rankOf(1, 0)]).toEqual([2, 1]);
});
