// Random grammars, regular expressions and choices, a random model over the demo vocabulary: what it finishes is in the
// language for an independent recogniser.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { prepare } from './feed-text.ts';
import { generate } from './random-generation.ts';

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly source: string; readonly pattern: RegExp }
  | { readonly kind: 'rule'; readonly index: number }
  | { readonly kind: 'all' | 'one'; readonly parts: readonly Part[] }
  | { readonly kind: 'many'; readonly part: Part; readonly least: number; readonly most: number };

const RULE_COUNT = 3;
const texts = fc.constantFrom('a', 'b', 'ab', 'aba', '(', ')', 'é', '"', '\n', ' x', '\\');
const classes = fc.constantFrom(
  { kind: 'class' as const, source: '[a-c]', pattern: /^[a-c]$/u },
  { kind: 'class' as const, source: '[^a"\\n]', pattern: /^[^a"\n]$/u },
  { kind: 'class' as const, source: '[\\u00e0-\\u00ff\\]-]', pattern: /^[à-ÿ\]-]$/u },
);
const parts = fc.letrec<{ part: Part }>(tie => ({
  part: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    texts.map((text): Part => ({ kind: 'text', text })),
    classes,
    fc.nat(RULE_COUNT - 1).map((index): Part => ({ kind: 'rule', index })),
    fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((list): Part => ({ kind: 'all', parts: list })),
    fc.array(tie('part'), { minLength: 2, maxLength: 3 }).map((list): Part => ({ kind: 'one', parts: list })),
    fc
      .tuple(tie('part'), fc.constantFrom([0, 1], [0, Infinity], [1, Infinity], [1, 2]))
      .map(([part, [least, most]]): Part => ({ kind: 'many', part, least: least!, most: most! })),
  ),
})).part;

function print(part: Part): string {
  switch (part.kind) {
    case 'text':
      return `"${part.text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
    case 'class':
      return part.source;
    case 'rule':
      return `r${part.index}`;
    case 'all':
      return `(${part.parts.map(print).join(' ')})`;
    case 'one':
      return `(${part.parts.map(print).join(' | ')})`;
    case 'many': {
      const { least, most } = part;
      const sign = most === Infinity ? (least === 0 ? '*' : '+') : most === 1 ? '?' : `{${least},${most}}`;
      return `(${print(part.part)})${sign}`;
    }
  }
}

/** All places where a match of the part beginning at `at` can end; rules by repeated widening until nothing is new. */
function recognises(rules: readonly Part[], text: string): boolean {
  const characters = [...text];
  const known = new Map<string, Set<number>>();
  let hasGrown = true;
  const ends = (part: Part, at: number): Set<number> => {
    switch (part.kind) {
      case 'text': {
        const wanted = [...part.text];
        return new Set(wanted.every((each, i) => characters[at + i] === each) ? [at + wanted.length] : []);
      }
      case 'class':
        return new Set(at < characters.length && part.pattern.test(characters[at]!) ? [at + 1] : []);
      case 'rule': {
        const key = `${part.index}:${at}`;
        if (!known.has(key)) {
          known.set(key, new Set());
          hasGrown = true;
        }
        return known.get(key)!;
      }
      case 'all': {
        let from = new Set([at]);
        for (const each of part.parts) from = new Set([...from].flatMap(place => [...ends(each, place)]));
        return from;
      }
      case 'one':
        return new Set(part.parts.flatMap(each => [...ends(each, at)]));
      case 'many': {
        const found = new Set<number>(part.least === 0 ? [at] : []);
        let from = new Set([at]);
        for (let count = 1; count <= Math.min(part.most, characters.length + 1) && from.size > 0; count++) {
          from = new Set([...from].flatMap(place => [...ends(part.part, place)]));
          if (count >= part.least) for (const place of from) found.add(place);
        }
        return found;
      }
    }
  };
  ends({ kind: 'rule', index: 0 }, 0);
  while (hasGrown) {
    hasGrown = false;
    for (const [key, places] of [...known]) {
      const [index, at] = key.split(':').map(Number);
      for (const place of ends(rules[index!]!, at!)) {
        if (places.has(place)) continue;
        places.add(place);
        hasGrown = true;
      }
    }
  }
  return known.get('0:0')!.has(characters.length);
}

const RUNS = Number(process.env.CONSTRAINT_RUNS ?? 30);

describe('texts generated under random grammars', () => {
  it('are in the language whenever they are finished', { timeout: 600_000 }, () => {
    let finished = 0;
    fc.assert(
      fc.property(
        fc.array(parts, { minLength: RULE_COUNT, maxLength: RULE_COUNT }),
        fc.nat(),
        (rules, seed) => {
          const text = `root ::= r0\n${rules.map((rule, i) => `r${i} ::= ${print(rule)}`).join('\n')}`;
          let prepared: ReturnType<typeof prepare>;
          try {
            prepared = prepare({ kind: 'grammar', text });
          } catch (error) {
            expect((error as Error).message).toMatch(/nothing satisfies/i);
            return;
          }
          const generated = generate(prepared.grammar, seed, 12);
          if (!generated.isFinished) return;
          finished++;
          expect(recognises(rules, generated.text), JSON.stringify(generated.text)).toBe(true);
        },
      ),
      { numRuns: RUNS },
    );
    expect(finished).toBeGreaterThan(RUNS / 4);
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
        const { text, isFinished } = generate(prepare({ kind: 'regex', pattern }).grammar, seed, 20);
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
          const { text, isFinished } = generate(prepare({ kind: 'choice', choices }).grammar, seed, 60);
          expect(isFinished).toBe(true);
          expect(choices).toContain(text);
        },
      ),
      { numRuns: RUNS },
    );
  });
});
