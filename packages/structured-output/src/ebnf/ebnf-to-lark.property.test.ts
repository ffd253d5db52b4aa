// Random grammars, regular expressions and choices, a random model over the demo vocabulary: what it finishes is in the
// language for an independent recogniser.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import { generate, type RandomText, randomNumbers } from '../../test/random-generation.ts';
import {
  printRules,
  randomRules,
  randomSentences,
  recognises,
  sampleText,
} from '../../test/random-grammar.ts';

const RUNS = Number(process.env.CONSTRAINT_RUNS ?? 30);

/** A grammar without an end, and one of single characters that can be read in more ways than a mask may look at. */
const EXPECTED = /nothing satisfies|Too many items/i;

describe('texts generated under random grammars', () => {
  it('are in the language whenever they are finished', { timeout: 600_000 }, () => {
    let finished = 0;
    fc.assert(
      fc.property(fc.oneof(randomRules, randomSentences), fc.nat(), (rules, seed) => {
        const text = printRules(rules);
        let prepared: ReturnType<typeof prepare>;
        try {
          prepared = prepare({ grammar: text });
        } catch (error) {
          expect((error as Error).message).toMatch(EXPECTED);
          return;
        }
        let generated: RandomText;
        try {
          generated = generate(prepared.grammar, seed, 12);
        } catch (error) {
          expect((error as Error).message).toContain('Too many items');
          return;
        }
        if (!generated.isFinished) return;
        finished++;
        expect(recognises(rules, generated.text), JSON.stringify(generated.text)).toBe(true);
      }),
      { numRuns: RUNS },
    );
    expect(finished).toBeGreaterThan(RUNS / 4);
  });

  it('are exactly those of the language, whatever parts became terminals', { timeout: 600_000 }, () => {
    const seen = { inside: 0, outside: 0, withTerminals: 0 };
    const changed = (text: string, random: () => number): string => {
      const characters = [...text];
      const at = Math.floor(random() * (characters.length + 1));
      const other = [...'ab0" <,éx\n'][Math.floor(random() * 9)]!;
      characters.splice(at, Math.floor(random() * 2), ...(random() < 0.7 ? [other] : []));
      return characters.join('');
    };
    fc.assert(
      fc.property(fc.oneof(randomRules, randomSentences), fc.nat(), (rules, seed) => {
        const random = randomNumbers(seed);
        let prepared: ReturnType<typeof prepare>;
        try {
          prepared = prepare({ grammar: printRules(rules) });
        } catch (error) {
          expect((error as Error).message).toMatch(EXPECTED);
          return;
        }
        if (/^T\d+:/m.test(prepared.grammar.text)) seen.withTerminals++;
        for (let count = 0; count < 6; count++) {
          const sampled = sampleText(rules, random);
          if (sampled === undefined || sampled.length > 40) continue;
          for (const text of [sampled, changed(sampled, random)]) {
            const isInside = recognises(rules, text);
            seen[isInside ? 'inside' : 'outside']++;
            expect(allows(prepared, text), `${printRules(rules)}: ${JSON.stringify(text)}`).toBe(isInside);
          }
        }
      }),
      { numRuns: RUNS },
    );
    expect(seen.inside).toBeGreaterThan(RUNS);
    expect(seen.outside).toBeGreaterThan(RUNS / 4);
    expect(seen.withTerminals).toBeGreaterThan(RUNS / 5);
  });

  it('match the regular expression, and every choice is one of the texts', { timeout: 600_000 }, () => {
    const patterns = [
      '[a-f]{2}\\d?',
      '(?:ab|a)*c',
      '\\w+@\\w+\\.(?:org|net)',
      '-?\\d+(?:\\.\\d{1,2})?',
      '"[^"]{0,3}"',
      'é[à-ÿ]*!',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...patterns), fc.nat(), (pattern, seed) => {
        const { text, isFinished } = generate(prepare({ regex: pattern }).grammar, seed, 20);
        if (isFinished) expect(text).toMatch(new RegExp(`^(?:${pattern})$`, 'u'));
      }),
      { numRuns: RUNS },
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 6 }), { minLength: 1, maxLength: 5 }),
        fc.nat(),
        (choices, seed) => {
          fc.pre(choices.every(text => text.isWellFormed() && !text.includes('\0')));
          const { text, isFinished } = generate(prepare({ choice: choices }).grammar, seed, 60);
          expect(isFinished).toBe(true);
          expect(choices).toContain(text);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
