import { expect, it } from 'vitest';
import { DEFAULT_CONSTRAINT_LIMITS } from '../constraint-spec.ts';
import { parseEbnf } from './parse-ebnf.ts';

const parse = (text: string) => parseEbnf(text, DEFAULT_CONSTRAINT_LIMITS);

it.each([
  ['"a" | endless | "b"', '"a" | "b"'],
  ['"a" | endless', '"a"'],
  ['"a" | "b" endless | [0-9]', '"a" | [0-9]'],
  ['"a" endless*', '"a" ()'],
  ['("a" | endless)+ "b"', '("a")+ "b"'],
  ['"a" | other', '"a"'],
])('leaves of %s what ends', (body, ending) => {
  const rules = parse(`root ::= ${body}\nendless ::= "x" endless\nother ::= endless{2}`);
  expect([...rules.keys()]).toEqual(['root']);
  expect(rules.get('root')).toEqual(parse(`root ::= ${ending}`).get('root'));
});

it('names a rule without end that the root needs', () => {
  const grammar = 'root ::= "a" (list | list+)\nlist ::= "[" more\nmore ::= "," more';
  expect(() => parse(grammar)).toThrow('the rule more has no end');
});
