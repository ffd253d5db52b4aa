// What each kind of constraint allows and refuses, on single bytes.

import { describe, expect, it } from 'vitest';
import { allows, prepare } from '../../test/feed-text.ts';
import type { ConstraintSpec, JsonStyle } from '../constraint-spec.ts';

const schema = (value: unknown, style?: JsonStyle): ConstraintSpec => ({
  jsonSchema: value,
  ...(style !== undefined && { style }),
});
const grammar = (text: string): ConstraintSpec => ({ grammar: text });
const tag = (value: unknown): ConstraintSpec => ({ structuralTag: value });

const POINT = {
  type: 'object',
  properties: { a: { type: 'integer' }, b: { type: 'array' } },
  required: ['a', 'b'],
};
const CALLS = {
  structures: [
    { begin: '<f=a>', schema: { type: 'integer' }, end: '</f>' },
    { begin: '<f=b>', schema: { type: 'boolean' }, end: '</f>' },
  ],
  triggers: ['<f='],
};
const number = { type: 'regex', pattern: '[0-9]+' };
const asTag = (begin: string, content: unknown, end: string | string[]) => ({
  type: 'tag',
  begin,
  content,
  end,
});

const CASES: readonly (readonly [string, ConstraintSpec, readonly string[], readonly string[]])[] = [
  [
    'compact JSON',
    schema(POINT, { whitespace: 'none' }),
    ['{"a":1,"b":[2,3]}'],
    ['{"a": 1,"b":[]}', '{"a":1,"b":[2, 3]}'],
  ],
  [
    'JSON with a pattern of white space',
    schema(POINT, { whitespace: { pattern: '\\s?' } }),
    ['{"a":1,"b":[2 ,3]}', '{"a" : 1,\n"b":[]}'],
    ['{"a":  1,"b":[]}'],
  ],
  [
    'JSON with bounded white space',
    schema(POINT, { whitespace: 'bounded' }),
    ['{\n  "a": 1,\n  "b": [ ]\n}'],
    ['{"a":1,"b":[]},'],
  ],
  [
    'JSON in a canonical layout',
    schema(POINT),
    ['{"a":1,"b":[2,3]}', '{"a": 1, "b": [2, 3]}', '{\n  "a": 1,\n  "b": [2, 3]\n}'],
    ['{"a" :1,"b":[]}', '{"a": 1,"b": []}', '{"a":1 ,"b":[]}', '{\n  "a": 1,\n  "b": []}'],
  ],
  [
    'integers and numbers of limited length',
    schema({ type: 'array', items: { type: 'number' } }),
    ['[9223372036854776000]', '[-0.12345678901234567]', '[1.7976931348623157e+280]', '[0.0000001234,5e-280]'],
    [`[${'1'.repeat(18)}]`, '[0.123456789012345678]', '[1e281]', `[0.${'0'.repeat(30)}1]`],
  ],
  [
    'integers of 64 bits',
    schema({ type: 'integer' }),
    ['-9223372036854775808', '1234567890123456789'],
    ['12345678901234567890'],
  ],
  [
    'numbers of any length in a schema that has longer ones itself',
    schema({ type: 'array', prefixItems: [{ const: 1e21 }], items: { type: 'integer' } }),
    [`[1${'0'.repeat(21)},${'9'.repeat(30)}]`],
    [],
  ],
  [
    'bounds, whatever their length',
    schema({ type: 'integer', maximum: 9_007_199_254_740_991 }),
    ['9007199254740991', '-9223372036854775808'],
    ['9007199254740992'],
  ],
  ['numbers without a limit', schema({ type: 'integer' }, { limitNumbers: false }), ['1'.repeat(120)], []],
  [
    'closed objects',
    schema({ ...POINT, $defs: {} }, { closeObjects: true }),
    ['{"a":1,"b":[]}'],
    ['{"a":1,"b":[],"c":1}'],
  ],
  [
    'closed objects that say otherwise',
    schema({ ...POINT, additionalProperties: true }, { closeObjects: true }),
    ['{"a":1,"b":[],"c":1}'],
    [],
  ],
  ['compact JSON of a boolean schema', schema(true, { whitespace: 'none' }), ['[1,2]'], ['[1, 2]']],
  [
    'property names of Object.prototype',
    schema('{"properties":{"__proto__":{"type":"null"}},"required":["__proto__"],"type":"object"}'),
    ['{"__proto__":null}'],
    ['{}', '{"__proto__":1}'],
  ],
  ['draft 4 bounds', schema({ type: 'integer', minimum: 1, exclusiveMinimum: true }), ['2'], ['1']],
  [
    'tuples of draft 7',
    schema({ type: 'array', items: [{ type: 'null' }], additionalItems: false }),
    ['[null]'],
    ['[1]', '[null,1]'],
  ],
  [
    'references of draft 7',
    schema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { n: { type: 'integer' } },
      $ref: '#/definitions/n',
      maximum: 1,
    }),
    ['5'],
    ['"a"'],
  ],
  [
    'patterns on declared properties',
    schema({
      type: 'object',
      properties: { ab: { type: 'integer' } },
      patternProperties: { b: { minimum: 5 } },
      required: ['ab'],
    }),
    ['{"ab":5}'],
    ['{"ab":4}'],
  ],
  ['a JSON object', { jsonObject: true }, ['{}', '{"a":[1]}'], ['[]', '1']],
  ['a regular expression that ends in a backslash', { regex: 'a\\\\' }, ['a\\'], ['a']],
  ['a regular expression', { regex: '^\\d[\\d\\s]/$' }, ['1 /', '12/'], ['٣ /', 'x12/']],
  ['a choice', { choice: ['a"b\n', 'a', '', 'é\\', 'a'] }, ['a"b\n', 'a', '', 'é\\'], ['b', 'a"']],
  [
    'EBNF',
    grammar('root ::= e\ne ::= "(" e ")" # nested\n | [a-c]{2,3} | "\\u00e9"?\n'),
    ['((ab))', 'abc', 'é', ''],
    ['(ab', 'a', 'abcd'],
  ],
  [
    'EBNF that needs the shorter text',
    grammar('root ::= ("x" | "xy") "y" r\nr ::= "" | "(" r ")"'),
    ['xy', 'xyy', 'xy()'],
    ['x', 'xyyy'],
  ],
  ['Lark', grammar('start: A ("," A)*\nA: /[0-9]+/'), ['1', '1,22'], ['1,', ',']],
  ['Lark without a start rule', grammar('list: A ("," A)*\nA: /[0-9]+/'), ['1,2'], ['a']],
  [
    'tags in free text',
    tag(CALLS),
    ['', 'hello', 'x <f=a>12</f> y <f=b>true</f>', '< f='],
    ['<f=c>', '<f=a>true</f>', 'x <f=a>12'],
  ],
  [
    'tags as JSON text',
    tag(JSON.stringify({ type: 'structural_tag', ...CALLS })),
    ['<f=a>1</f>'],
    ['<f=a>x</f>'],
  ],
  [
    'a tag around free text',
    tag({ format: asTag('<t>', { type: 'any_text' }, '</t>') }),
    ['<t>a <b></t>'],
    ['<t>a', '<t></t>x'],
  ],
  ['one of several ends', tag({ format: asTag('[', number, [']', ')']) }), ['[1]', '[22)'], ['[1', '[]']],
  [
    'a sequence',
    tag({
      format: {
        type: 'sequence',
        elements: [{ type: 'any_text' }, { type: 'const_string', value: 'END' }, number],
      },
    }),
    ['aENEND12', 'END1'],
    ['a12', 'END'],
  ],
  [
    'alternatives',
    tag({
      format: {
        type: 'or',
        elements: [
          { type: 'grammar', grammar: 'root ::= "(" root ")" | "x"' },
          { type: 'json_schema', json_schema: { type: 'null' } },
        ],
      },
    }),
    ['((x))', 'null'],
    ['()', 'x)'],
  ],
  [
    'separated tags',
    tag({ format: { type: 'tags_with_separator', separator: ';', tags: [asTag('<', number, '>')] } }),
    ['', '<1>', '<1>;<2>'],
    ['<1>;', '<1><2>'],
  ],
  [
    'at least one separated tag, and no more',
    tag({
      format: {
        type: 'tags_with_separator',
        separator: ';',
        tags: [asTag('<', number, '>')],
        at_least_one: true,
        stop_after_first: true,
      },
    }),
    ['<1>'],
    ['', '<1>;<2>'],
  ],
  [
    'at least one triggered tag',
    tag({
      format: {
        type: 'triggered_tags',
        triggers: ['<'],
        tags: [asTag('<', number, '>')],
        at_least_one: true,
      },
    }),
    ['a<1>b<2>', '<1>'],
    ['', 'abc'],
  ],
  [
    'one triggered tag at most',
    tag({
      format: {
        type: 'triggered_tags',
        triggers: ['<'],
        tags: [asTag('<', number, '>')],
        stop_after_first: true,
      },
    }),
    ['a<1>', 'abc'],
    ['<1>b', '<1><2>'],
  ],
];

const REFUSALS: readonly (readonly [ConstraintSpec, RegExp])[] = [
  [schema('{'), /not JSON/],
  [schema('[]'), /must be an object or a boolean/],
  [schema({ type: 'text' }), /type must be one or several of .*#\/type/],
  [schema({ properties: { 'a/b': { enum: [] } } }), /#\/properties\/a~1b\/enum/],
  [schema({ anyOf: [{ $dynamicRef: '#x' }] }), /\$dynamicRef is not supported/],
  [schema({ pattern: '(' }), /#\/pattern/],
  [schema(`{"minimum":${'9'.repeat(400)}}`), /minimum must lie within ±1\.8e308 \(at #\/minimum\)/],
  [schema('{"enum":[[12345678901234567890]]}'), /12345678901234567890 has too many digits/],
  [schema({ minLength: -1 }), /#\/minLength/],
  [schema({ type: 'string', minLength: 3, maxLength: 2 }), /compiled/],
  [schema({}, { whitespace: { pattern: 'x*' } }), /may only match spaces/],
  [{ choice: [] }, /at least one text/],
  [{ choice: ['a'], regex: 'a' }, /exactly one of .*; got regex, choice/],
  [{} as ConstraintSpec, /exactly one of .*; got none/],
  [{ jsonObject: false }, /must be true/],
  [{ choice: ['\ud800'] }, /half a character/],
  [{ regex: '(' }, /compiled/],
  [{ regex: 'ab\\' }, /must not end in a single backslash \(at regex\)/],
  [{ regex: '(?x) a # first\n b' }, /flag x must stand on one line \(at regex\)/],
  [{ regex: 'a\0' }, /U\+0000/],
  [{ regex: '(?:a{1,999}){1,999}' }, /998001 characters; 20000 are allowed \(at regex\)/],
  [schema({ items: { pattern: '(.{9}a){9999}' } }), /are allowed \(at #\/items\/pattern\)/],
  [schema({ patternProperties: { '(.{9}a){9999}': {} } }), /are allowed \(at #\/patternProperties/],
  [grammar('root ::= "x"\nb ::= ("a"{9999} "c"){9999}'), /rule b has 99990000 characters.*line 2/],
  [grammar('start: "x" /(a{9}){9999}/'), /are allowed \(at grammar\)/],
  [grammar(' '), /empty/],
  [grammar('no rules here'), /has no rule/],
  [grammar('rule ::= "a"'), /root, which is not defined/],
  [grammar('root ::= other'), /other, which is not defined/],
  [grammar('root ::= "a'), /line 1.*|not closed/],
  [grammar('root ::= "a"\nroot ::= "b"'), /defined twice .*line 2/],
  [grammar('root ::= [z-a]'), /wrong way round/],
  [grammar('root ::= "a"{3,2}'), /wrong way round/],
  [grammar('root ::= "\\q"'), /escape/],
  [grammar('start: A[stop="x"]\nA[stop="x"]: /a/'), /option stop|compiled/],
  [tag('{'), /must be JSON/],
  [tag({}), /structures must be a list/],
  [tag({ format: { type: 'novel' } }), /"novel" is not supported/],
  [tag({ format: { type: 'any_text', excludes: [] } }), /excludes is not supported/],
  [tag({ ...CALLS, triggers: ['<g='] }), /starts with none of the triggers/],
  [
    tag({ format: asTag('<', { type: 'json_schema', json_schema: { not: { type: 'string' } } }, '>') }),
    /not cannot be enforced.*#\/format\/content\/json_schema\/not/,
  ],
  [tag({ format: { type: 'sequence', elements: [{ type: 'any_text' }, number] } }), /Free text/],
  // A part that llguidance refuses is named by its place in the tag, not by a line of our text.
  [
    tag({ format: asTag('<', { type: 'regex', pattern: '[0-9]{2' }, '>') }),
    /unclosed counted repetition.*\(at #\/format\/content\/pattern\)\.$/s,
  ],
  [
    tag({
      format: asTag(
        '<',
        { type: 'json_schema', json_schema: { type: 'number', minimum: 5, maximum: 1 } },
        '>',
      ),
    }),
    /^The constraint cannot be compiled: Unsatisfiable schema: .*\(at #\/format\/content\/json_schema\)\.$/,
  ],
  [
    tag({ format: asTag('<', { type: 'grammar', grammar: 'root ::= "a' }, '>') }),
    /not closed \(at #\/format\/content\/grammar, line 1\)/,
  ],
];

describe('prepared constraints', () => {
  it.each(CASES)('allow exactly what they say: %s', (_name, spec, right, wrong) => {
    const prepared = prepare(spec);
    expect(right.filter(text => !allows(prepared, text))).toEqual([]);
    expect(wrong.filter(text => allows(prepared, text))).toEqual([]);
  });

  it.each(REFUSALS)('refuse %j', (spec, message) => {
    expect(() => prepare(spec)).toThrow(message);
    expect(() => prepare(spec)).toThrow(expect.objectContaining({ code: 'invalid_constraint' }));
  });
});
