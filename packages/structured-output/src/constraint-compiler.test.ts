import { afterAll, describe, expect, it } from 'vitest';
import { allowsToken, ConstraintCompiler } from './constraint-compiler.ts';
import { createTokenVocabulary } from './token-vocabulary.ts';

const TOKENS = ['<|end|>', ...'abc0123456789[],"', 'ab', Uint8Array.of(0xc3)];
const compiler = new ConstraintCompiler(createTokenVocabulary(TOKENS, { eosTokenIds: [0], columnCount: 64 }));
afterAll(() => compiler.close());

const idOf = (text: string) => TOKENS.indexOf(text);

describe('a compiled constraint', () => {
  it('masks the tokens that the grammar does not allow, and the padding of the model', async () => {
    const constraint = await compiler.compile({ regex: 'ab[0-9]' });
    const matcher = constraint.createMatcher();
    const mask = compiler.createMask();
    matcher.fillMask(mask);
    const allowed = Array.from({ length: 64 }, (_, id) => id).filter(id => allowsToken(mask, id));
    expect(allowed.map(id => TOKENS[id])).toEqual(['a', 'ab']);
    matcher.dispose();
  });

  it('gives each sequence a matcher of its own', async () => {
    const constraint = await compiler.compile({ choice: ['a', 'b'] });
    const [one, two] = [constraint.createMatcher(), constraint.createMatcher()];
    expect(one.accept(idOf('a'))).toBe(true);
    expect([one.mustStop(), two.canStop(), two.accept(idOf('b'))]).toEqual([true, false, true]);
    for (const matcher of [one, two]) matcher.dispose();
  });

  it('follows as many choices with the same beginning as there may be', async () => {
    const choice = Array.from({ length: 10_000 }, (_, index) => `a${index}`);
    const matcher = (await compiler.compile({ choice })).createMatcher();
    const mask = compiler.createMask();
    for (const text of 'a77') {
      matcher.fillMask(mask);
      expect(allowsToken(mask, idOf(text))).toBe(true);
      expect(matcher.accept(idOf(text))).toBe(true);
    }
    matcher.fillMask(mask);
    const allowed = TOKENS.filter((_, id) => allowsToken(mask, id));
    expect(allowed).toEqual(['<|end|>', ...'0123456789']);
    matcher.dispose();
  });

  it('checks keywords that no grammar enforces in the finished text', async () => {
    const schema = { type: 'array', items: { type: 'integer' }, uniqueItems: true };
    const constraint = await compiler.compile({ jsonSchema: schema });
    await constraint.checkText('[1,2]');
    await expect(constraint.checkText('[1,1]')).rejects.toThrow('uniqueItems');
  });

  it('is refused with its place where it is malformed', async () => {
    await expect(compiler.compile({ regex: '(' })).rejects.toMatchObject({
      name: 'ConstraintError',
      code: 'invalid_constraint',
    });
  });

  it('is refused when the vocabulary cannot spell it', async () => {
    await expect(compiler.compile({ regex: 'x' })).rejects.toMatchObject({
      code: 'invalid_constraint',
      message: 'Nothing satisfies the constraint.',
    });
  });
});

describe('a vocabulary', () => {
  it('makes end tokens special, and others that are named so', () => {
    const { specialTokens, bytes, offsets, columnCount } = createTokenVocabulary(['a', '<|x|>', '</s>'], {
      eosTokenIds: [2],
      specialTokenIds: [1],
    });
    expect(specialTokens).toEqual([
      { id: 1, name: '<|x|>' },
      { id: 2, name: '</s>' },
    ]);
    expect([columnCount, [...offsets], Buffer.from(bytes).toString()]).toEqual([
      3,
      [0, 1, 6, 10],
      'a<|x|></s>',
    ]);
  });
});
