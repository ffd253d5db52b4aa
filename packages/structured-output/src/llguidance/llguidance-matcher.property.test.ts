// Masks against brute force: random finite languages, spelled out as sets of byte strings, over a vocabulary whose
// tokens overlap and cut characters in two. Then any way of accepting, forking and taking back against doing it once.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConstraintMatcher } from '../constraint.ts';
import { LlguidanceEngine } from './llguidance-engine.ts';

/** Bytes as characters of one byte each: `é` is C3 A9. */
const TOKENS = ['a', 'b', 'aa', 'ab', 'ba', 'bab', '\xc3\xa9', '\xc3', '\xa9', 'a\xc3', '\xa9b', '', 'abab'];
const END = TOKENS.length;

const offsets = new Uint32Array(TOKENS.length + 1);
for (const [i, token] of TOKENS.entries()) offsets[i + 1] = offsets[i]! + token.length;
const engine = new LlguidanceEngine({
  columnCount: END + 1,
  bytes: new Uint8Array(Buffer.from(TOKENS.join(''), 'latin1')),
  offsets,
  specialTokens: [],
  eosTokenIds: [END],
});

interface Language {
  readonly pattern: string;
  readonly texts: ReadonlySet<string>;
}

const MAX_TEXTS = 400;
const single = (pattern: string, ...texts: string[]): Language => ({ pattern, texts: new Set(texts) });

function joined(parts: readonly Language[]): Language {
  let texts: ReadonlySet<string> = new Set(['']);
  for (const part of parts) texts = new Set(firstPairs(texts, part.texts));
  return { pattern: parts.map(part => `(?:${part.pattern})`).join(''), texts };
}

/** Every head with every tail, but no more than show that there are too many: nothing built of them gets fewer again. */
function* firstPairs(heads: ReadonlySet<string>, tails: ReadonlySet<string>): Generator<string> {
  const seen = new Set<string>();
  for (const head of heads)
    for (const tail of tails) {
      if (seen.size > MAX_TEXTS) return;
      seen.add(head + tail);
      yield head + tail;
    }
}

const either = (parts: readonly Language[]): Language => ({
  pattern: parts.map(part => `(?:${part.pattern})`).join('|'),
  texts: new Set(parts.flatMap(part => [...part.texts])),
});

function repeated(item: Language, min: number, max: number): Language {
  const counts = Array.from({ length: max - min + 1 }, (_, i) => min + i);
  const { texts } = either(counts.map(count => joined(Array<Language>(count).fill(item))));
  return { pattern: `(?:${item.pattern}){${min},${max}}`, texts };
}

const languages = fc
  .letrec<{ language: Language }>(tie => ({
    language: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom(single('a', 'a'), single('b', 'b'), single('é', '\xc3\xa9'), single('[ab]', 'a', 'b')),
      fc.array(tie('language'), { minLength: 1, maxLength: 3 }).map(joined),
      fc.array(tie('language'), { minLength: 1, maxLength: 3 }).map(either),
      fc
        .tuple(tie('language'), fc.nat(2), fc.nat(2))
        .map(([item, min, more]) => repeated(item, min, min + more)),
    ),
  }))
  .language.filter(({ texts }) => texts.size <= MAX_TEXTS);

/** Token ids that may follow, by looking at every text of the language. */
function bruteForce({ texts }: Language, soFar: string): number[] {
  const starts = (text: string) => [...texts].some(each => each.startsWith(text));
  const ids = TOKENS.flatMap((token, id) => (token !== '' && starts(soFar + token) ? [id] : []));
  return texts.has(soFar) ? [...ids, END] : ids;
}

function allowed(matcher: ConstraintMatcher): number[] {
  const mask = new Uint32Array(engine.maskWordCount);
  matcher.fillMask(mask);
  return Array.from({ length: END + 1 }, (_, id) => id).filter(id => (mask[id >>> 5]! >>> (id & 31)) & 1);
}

const textOf = (ids: readonly number[]) => ids.map(id => TOKENS[id] ?? '').join('');

describe('a matcher', () => {
  it('allows exactly the tokens that brute force finds, at every step', () => {
    fc.assert(
      fc.property(languages, fc.array(fc.nat(), { maxLength: 12 }), (language, choices) => {
        const matcher = engine.compile({ kind: 'regex', text: language.pattern });
        const taken: number[] = [];
        for (const choice of choices) {
          const expected = bruteForce(language, textOf(taken));
          expect(allowed(matcher)).toEqual(expected);
          expect(matcher.canStop()).toBe(expected.includes(END));
          // Before the first token llguidance does not know that the empty text is the only one; the mask says it.
          if (taken.length > 0 || matcher.mustStop())
            expect(matcher.mustStop()).toBe(expected.length === 1 && expected[0] === END);
          const next = expected[choice % expected.length]!;
          expect(matcher.accept(next)).toBe(true);
          if (next === END) break;
          taken.push(next);
        }
        matcher.dispose();
      }),
      { numRuns: 60 },
    );
  });

  it('is in the same state however it came there: forks and take-backs leave no trace', () => {
    fc.assert(
      fc.property(
        languages,
        fc.array(fc.tuple(fc.nat(9), fc.nat()), { maxLength: 20 }),
        (language, actions) => {
          let matcher = engine.compile({ kind: 'regex', text: language.pattern });
          let taken: number[] = [];
          for (const [kind, choice] of actions) {
            if (kind === 0) {
              const fork = matcher.fork();
              for (const id of allowed(matcher)) if (matcher.accept(id)) break;
              matcher.dispose();
              matcher = fork;
            } else if (kind < 3 && taken.length > 0) {
              const count = 1 + (choice % taken.length);
              matcher.rollback(count);
              taken = taken.slice(0, -count);
            } else if (kind === 3) {
              const wrong = TOKENS.findIndex((_, id) => !allowed(matcher).includes(id));
              if (wrong !== -1) expect(matcher.accept(wrong)).toBe(false);
            } else if (!taken.includes(END)) {
              const ids = allowed(matcher);
              const next = ids[choice % ids.length]!;
              expect(matcher.accept(next)).toBe(true);
              taken.push(next);
            }
          }
          const fresh = engine.compile({ kind: 'regex', text: language.pattern });
          for (const id of taken) expect(fresh.accept(id)).toBe(true);
          expect(allowed(matcher)).toEqual(allowed(fresh));
          expect([matcher.canStop(), matcher.mustStop()]).toEqual([fresh.canStop(), fresh.mustStop()]);
          matcher.dispose();
          fresh.dispose();
        },
      ),
      { numRuns: 60 },
    );
  });
});
