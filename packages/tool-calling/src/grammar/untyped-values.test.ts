import { ConstraintCompiler, createTokenVocabulary } from '@ortler/structured-output';
import { afterAll, expect, it } from 'vitest';
import { readCalls } from '../../test/read-calls.ts';
import { NAMED_DIALECTS } from '../dialects/named-dialects.ts';
import { writeCalls } from '../write-calls.ts';
import { createToolGrammar } from './tool-grammar.ts';

const CHARACTERS = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
const tokens = ['<end>', ...CHARACTERS];
const compiler = new ConstraintCompiler(createTokenVocabulary(tokens, { eosTokenIds: [0] }));
afterAll(() => compiler.close());

const tool = {
  name: 'save',
  parameters: {
    type: 'object',
    properties: { any: { description: 'Any value.' }, list: { type: 'array' }, data: { type: 'object' } },
  },
  isStrict: true,
};

it.each(['lfm2', 'gemma-4'] as const)('%s: values without a type may be lists and objects', async name => {
  const { dialect } = NAMED_DIALECTS[name];
  const rule = { choice: 'required', isParallel: false } as const;
  const tag = createToolGrammar({ dialect, tools: [tool], rule, placeOf: () => 'tools' });
  const constraint = await compiler.compile({ tag });
  for (const values of [
    { any: [1, ['a', null], { k: [true] }] },
    { any: { a: { b: [] } } },
    { list: [[1], { x: 'y' }], data: { rows: [[1.5, 'z']] } },
    { any: 'plain' },
  ]) {
    const text = writeCalls(dialect, [{ name: 'save', arguments: values }]);
    const matcher = constraint.createMatcher();
    const isAllowed = [...text].every(character => matcher.accept(tokens.indexOf(character)));
    expect(isAllowed && matcher.canStop(), text).toBe(true);
    matcher.dispose();
    expect(JSON.parse(readCalls(dialect, [tool], [text]).calls[0]!.arguments)).toEqual(values);
  }
});
