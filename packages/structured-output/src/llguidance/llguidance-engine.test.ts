// The engine and its matchers on a small vocabulary: end tokens, jump-forward decoding, caches, and the end of the instance.

import { describe, expect, it } from 'vitest';
import { type Grammar, GrammarRefused, MatcherFailed } from '../constraint.ts';
import { LlguidanceEngine } from './llguidance-engine.ts';
import { decodeModule } from './load-llguidance.ts';

const TEXTS = ['a', 'b', 'c', 'ab', 'abc', '{', '}', '"', '":', '1', '12'];
const SPECIAL = TEXTS.length;
const [END, OTHER_END] = [TEXTS.length + 1, TEXTS.length + 2];
const COLUMN_COUNT = 40;

function createEngine(cacheBytes?: number): LlguidanceEngine {
  const offsets = new Uint32Array(TEXTS.length + 1);
  for (const [i, text] of TEXTS.entries()) offsets[i + 1] = offsets[i]! + text.length;
  return new LlguidanceEngine(
    {
      columnCount: COLUMN_COUNT,
      bytes: new TextEncoder().encode(TEXTS.join('')),
      offsets,
      specialTokens: [{ id: SPECIAL, name: '<|s|>' }],
      eosTokenIds: [END, OTHER_END],
    },
    cacheBytes === undefined ? {} : { cacheBytes },
  );
}

const regex = (text: string): Grammar => ({ kind: 'regex', text });
/** A chain of this many rules overflows the stack of the compiler. */
const DEADLY: Grammar = {
  kind: 'lark',
  text: `start: r0\n${Array.from({ length: 20_000 }, (_, i) => `r${i}: r${i + 1}`).join('\n')}\nr20000: "a"`,
};

const engine = createEngine();

function allowed(matcher: { fillMask(mask: Uint32Array): void }): number[] {
  const mask = new Uint32Array(engine.maskWordCount);
  matcher.fillMask(mask);
  return Array.from({ length: engine.maskWordCount * 32 }, (_, id) => id).filter(
    id => (mask[id >>> 5]! >>> (id & 31)) & 1,
  );
}

const ids = (...texts: string[]) => texts.map(text => TEXTS.indexOf(text));

describe('a matcher', () => {
  it('allows every end token exactly when the text is complete, and never padding', () => {
    const matcher = engine.compile(regex('a?b'));
    expect(allowed(matcher)).toEqual(ids('a', 'b', 'ab'));
    expect(matcher.accept(END)).toBe(false);
    expect(matcher.accept(ids('b')[0]!)).toBe(true);
    expect(allowed(matcher)).toEqual([END, OTHER_END]);
    expect([matcher.canStop(), matcher.mustStop()]).toEqual([true, true]);
  });

  it('refuses a token without losing its place', () => {
    const matcher = engine.compile(regex('ab'));
    expect(matcher.accept(ids('c')[0]!)).toBe(false);
    expect(matcher.accept(SPECIAL)).toBe(false);
    expect(matcher.accept(COLUMN_COUNT - 1)).toBe(false);
    expect(allowed(matcher)).toEqual(ids('a', 'ab'));
  });

  it('takes an end back, and text before it', () => {
    const matcher = engine.compile(regex('a*'));
    for (const id of [...ids('a', 'a'), OTHER_END]) expect(matcher.accept(id)).toBe(true);
    expect(matcher.mustStop()).toBe(true);
    expect(matcher.accept(END)).toBe(false);
    matcher.rollback(1);
    expect(matcher.mustStop()).toBe(false);
    matcher.rollback(2);
    expect(() => matcher.rollback(1)).toThrow('Invariant');
    expect(allowed(matcher)).toEqual([...ids('a'), END, OTHER_END]);
  });

  it('counts how many tokens of a list would fit, an end among them', () => {
    const matcher = engine.compile(regex('ab?'));
    expect(matcher.countFitting(ids('a', 'b', 'c'))).toBe(2);
    expect(matcher.countFitting([...ids('a'), END])).toBe(2);
    expect(matcher.countFitting([END])).toBe(0);
    expect(matcher.countFitting([])).toBe(0);
    expect(matcher.accept(ids('ab')[0]!)).toBe(true);
    expect(matcher.countFitting([OTHER_END, END])).toBe(1);
  });

  it('reaches special tokens by name and number only', () => {
    const matcher = engine.compile({ kind: 'lark', text: `start: "a" <[${SPECIAL}]> | "a" <|s|> "b"` });
    expect(allowed(matcher)).toEqual(ids('a'));
    expect(matcher.accept(ids('a')[0]!)).toBe(true);
    expect(allowed(matcher)).toEqual([SPECIAL]);
  });

  it('lives on its own after a fork', () => {
    const matcher = engine.compile(regex('(ab|c)+'));
    matcher.accept(ids('c')[0]!);
    const fork = matcher.fork();
    fork.accept(ids('a')[0]!);
    expect(allowed(fork)).toEqual(ids('b'));
    matcher.dispose();
    matcher.dispose();
    expect(fork.accept(ids('b')[0]!)).toBe(true);
  });
});

describe('the engine', () => {
  it('refuses what cannot be compiled or satisfied, with the reason', () => {
    expect(() => engine.compile(regex('('))).toThrow(GrammarRefused);
    expect(() => engine.compile(regex('[^\\x00-\\x{10FFFF}]'))).toThrow('Nothing satisfies');
    // No token of this vocabulary spells it.
    expect(() => engine.compile(regex('z'))).toThrow('Nothing satisfies');
    expect(() => engine.compile(regex('a\0'))).toThrow('U+0000');
  });

  it('outlives a grammar that kills its instance, and so do the other matchers', () => {
    const mortal = createEngine();
    const matcher = mortal.compile(regex('(ab|c)*1'));
    const [first, , ended] = [matcher.fork(), matcher.accept(ids('ab')[0]!), matcher.fork()];
    for (const id of [...ids('1'), END]) ended.accept(id);
    const before = [allowed(matcher), allowed(first)];
    const { instance } = mortal;
    expect(() => mortal.compile(DEADLY)).toThrow(MatcherFailed);
    expect(mortal.instance).not.toBe(instance);
    expect([allowed(matcher), allowed(first)]).toEqual(before);
    expect(ended.mustStop()).toBe(true);
    expect(matcher.accept(ids('c')[0]!)).toBe(true);
    matcher.rollback(2);
    expect(allowed(matcher)).toEqual(before[1]);
    for (const each of [matcher, first, ended]) each.dispose();
  });

  it('stays within its cache and its memory however many grammars come', () => {
    const small = createEngine(1_000_000);
    for (let i = 0; i < 50; i++) small.compile(regex(`a{${i + 1}}`)).dispose();
    const { memoryBytes } = small.instance;
    for (let i = 0; i < 200; i++) small.compile(regex(`a{${(i % 50) + 1}}b`)).dispose();
    expect(small.instance.memoryBytes).toBeLessThan(memoryBytes + 4 * 2 ** 20);
  });

  it('needs an end token, and the pinned build', () => {
    const { vocabulary } = engine;
    expect(() => new LlguidanceEngine({ ...vocabulary, eosTokenIds: [] })).toThrow('end-of-sequence');
    expect(() => decodeModule('"data:application/wasm;base64,AGFzbQEAAAA="')).toThrow('SHA-256');
    expect(() => decodeModule('')).toThrow('no WebAssembly');
  });
});
