// Which parts of well-known grammars become terminals, and which must not.

import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';

const JSON_GRAMMAR = `root ::= object
value ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\\"" ( [^"\\\\\\x7F\\x00-\\x1F] | "\\\\" (["\\\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\\n" [ \\t]{0,20}`;

const terminalsOf = (text: string): number =>
  prepare({ grammar: text }).grammar.text.match(/^T\d+:/gm)?.length ?? 0;

describe('terminals of EBNF grammars', () => {
  it('are the strings, numbers, names and line ends of JSON', () => {
    expect(terminalsOf(JSON_GRAMMAR)).toBe(4);
    const prepared = prepare({ grammar: JSON_GRAMMAR });
    const texts = ['{"a": [1, -2.5e3, true], "é\\n": {}}', '{}\n  ', '{"a": 01}', '{"a"  : 1}', '{"a": 1,}'];
    expect(texts.map(text => allows(prepared, text))).toEqual([true, true, false, false, false]);
  });

  it.each([
    // Greedy reading would take what the next part needs.
    ['root ::= ("x" | "xy") "y" root?', 0, ['xy', 'xyy', 'xyxyy'], ['x', 'xyyy']],
    ['root ::= word root? "b"\nword ::= [a-c]+', 0, ['ab', 'abb', 'acbabb'], ['a', 'b']],
    // Both begin alike, so the first byte does not tell them apart.
    ['root ::= "tick" | "tock" | "(" root ")"', 0, ['tick', '(tock)'], ['tack']],
    ['root ::= "tick" | "dock" | "(" root ")"', 2, ['tick', '(dock)'], ['tock']],
    // After a character of both classes either may follow.
    ['root ::= [ab] "tick" | [bc] "tock" | "(" root ")"', 0, ['btick', '(btock)'], ['ctick', 'atock']],
    ['root ::= [ab] "tick" | [cd] "tock" | "(" root ")"', 2, ['btick', '(ctock)'], ['ctick', 'atock']],
    // A byte in common is enough: é and à both begin with C3. The digits alone are safe.
    ['root ::= number "é" root? \nnumber ::= [0-9]+ ("à" [0-9]+)?', 1, ['1é', '1à2é3é'], ['1à', '1']],
    ['root ::= number "é" root? \nnumber ::= [0-9]+ ("." [0-9]+)?', 1, ['1é', '1.2é3é'], ['1.', '1']],
  ])('of %j are %i', (text, count, inside, outside) => {
    expect(terminalsOf(text)).toBe(count);
    const prepared = prepare({ grammar: text });
    for (const each of inside) expect(allows(prepared, each), each).toBe(true);
    for (const each of outside) expect(allows(prepared, each), each).toBe(false);
  });

  it('do not swallow the end of a structural tag', () => {
    const content = { type: 'grammar', grammar: 'root ::= [^x]*' };
    const tag = { type: 'structural_tag', format: { type: 'tag', begin: '<t>', content, end: '</t>' } };
    const prepared = prepare({ structuralTag: tag });
    expect(allows(prepared, '<t>a < b</t>')).toBe(true);
    expect(allows(prepared, '<t>axb</t>')).toBe(false);
  });
});
