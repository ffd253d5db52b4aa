// One case for each thing a JSON Schema can say: a schema, texts that satisfy it and texts that do not.
// docs/adr/0016 tells why the engine is the one that passes them.

export interface SchemaCase {
  readonly name: string;
  readonly schema: unknown;
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

const row = (
  name: string,
  schema: unknown,
  valid: readonly string[],
  invalid: readonly string[],
): SchemaCase => ({ name, schema, valid, invalid });

const closed = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const string = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };

export const SCHEMA_CASES: readonly SchemaCase[] = [
  row('type string', string, ['""', '"a b"'], ['1', 'null', '{}']),
  row('type integer', integer, ['0', '-12', '345'], ['1.5', '"1"', 'true', '01']),
  row('type number', number, ['0', '-1.5', '2e3', '10'], ['"1"', '.5', '1.', 'null']),
  row('type boolean or null', { type: ['boolean', 'null'] }, ['true', 'false', 'null'], ['0', '"null"']),
  row('type string or integer', { type: ['string', 'integer'] }, ['"a"', '5'], ['1.5', 'null', '[]']),
  row('integer written with a fraction of zero', integer, ['1.0'], []),
  row('anything', {}, ['1', '"a"', '[1,{"a":null}]', '{}', 'true'], ['[1,]', 'nul']),
  row(
    'enum of mixed values',
    { enum: ['a', 1, null, true, { k: 1 }] },
    ['"a"', '1', 'null', 'true', '{"k":1}'],
    ['"b"', '2', 'false', '{"k":2}'],
  ),
  row('const string with quotes and unicode', { const: 'q"é€' }, ['"q\\"é€"'], ['"q"', '"qé€"']),
  row('const object', { const: { a: [1, 2] } }, ['{"a":[1,2]}'], ['{"a":[1]}', '{}']),
  row(
    'closed object',
    closed({ a: string, b: integer }),
    ['{"a":"x","b":1}', '{ "a" : "y" , "b" : 2 }'],
    ['{"a":"x"}', '{"a":1,"b":1}', '{"a":"x","b":1,"c":1}', '[]'],
  ),
  row(
    'open object',
    { type: 'object', properties: { a: integer } },
    ['{}', '{"a":1}', '{"a":1,"z":"q"}'],
    ['{"a":"x"}', '[]'],
  ),
  row(
    'map',
    { type: 'object', additionalProperties: integer },
    ['{}', '{"a":1}', '{"a":1,"b":2}'],
    ['{"a":"x"}', '{"a":1,"b":null}'],
  ),
  row(
    'all optional',
    { type: 'object', properties: { a: integer, b: integer, c: integer }, additionalProperties: false },
    ['{}', '{"a":1}', '{"b":1}', '{"c":1}', '{"a":1,"c":2}', '{"a":1,"b":2,"c":3}'],
    ['{"d":1}', '{"a":"x"}'],
  ),
  row('properties out of order', closed({ a: integer, b: integer }), ['{"b":1,"a":2}'], []),
  row(
    'required key that is not declared',
    { type: 'object', properties: { a: integer }, required: ['z'] },
    ['{"a":1,"z":2}'],
    ['{"a":1}'],
  ),
  row('declared key twice', closed({ a: integer }), [], ['{"a":1,"a":2}']),
  row(
    'counts of a map',
    { type: 'object', additionalProperties: integer, minProperties: 1, maxProperties: 2 },
    ['{"a":1}', '{"a":1,"b":2}'],
    ['{}', '{"a":1,"b":2,"c":3}'],
  ),
  row(
    'minProperties with optional properties',
    {
      type: 'object',
      properties: { a: integer, b: integer, c: integer },
      additionalProperties: false,
      minProperties: 2,
    },
    ['{"a":1,"b":2}', '{"b":1,"c":2}'],
    ['{}', '{"a":1}'],
  ),
  row(
    'patternProperties',
    { type: 'object', patternProperties: { '^s_': string, '^i_': integer }, additionalProperties: false },
    ['{}', '{"s_a":"x"}', '{"i_a":1,"s_b":"y"}'],
    ['{"s_a":1}', '{"other":1}'],
  ),
  row(
    'patternProperties and properties',
    {
      type: 'object',
      properties: { id: integer },
      patternProperties: { '^x-': string },
      required: ['id'],
      additionalProperties: false,
    },
    ['{"id":1}', '{"id":1,"x-a":"b"}'],
    ['{"x-a":"b"}', '{"id":1,"x-a":1}', '{"id":1,"y":1}'],
  ),
  row(
    'propertyNames',
    { type: 'object', propertyNames: { pattern: '^[a-z]+$' } },
    ['{"abc":1}', '{}'],
    ['{"A":1}'],
  ),
  row(
    'dependentRequired',
    {
      type: 'object',
      properties: { card: string, address: string },
      dependentRequired: { card: ['address'] },
    },
    ['{"card":"1","address":"x"}', '{"address":"x"}'],
    ['{"card":"1"}'],
  ),
  row(
    'unevaluatedProperties',
    {
      allOf: [{ type: 'object', properties: { a: integer } }],
      properties: { b: integer },
      unevaluatedProperties: false,
    },
    ['{"a":1,"b":2}'],
    ['{"a":1,"c":2}'],
  ),
  row('items', { type: 'array', items: integer }, ['[]', '[1]', '[1,2,3]'], ['["a"]', '[1,"a"]', '{}']),
  row(
    'minItems and maxItems',
    { type: 'array', items: integer, minItems: 1, maxItems: 2 },
    ['[1]', '[1,2]'],
    ['[]', '[1,2,3]', '["a"]'],
  ),
  row(
    'prefixItems',
    { type: 'array', prefixItems: [integer, string] },
    ['[1,"a"]', '[1,"a",null]'],
    ['["a"]'],
  ),
  row('prefixItems cut short', { type: 'array', prefixItems: [integer, string] }, ['[]', '[1]'], []),
  row(
    'prefixItems and no more',
    { type: 'array', prefixItems: [integer, string], items: false, minItems: 2 },
    ['[1,"a"]'],
    ['[1]', '[1,"a",2]', '["a",1]'],
  ),
  row(
    'prefixItems and items',
    { type: 'array', prefixItems: [string], items: integer },
    ['["a"]', '["a",1,2]'],
    ['["a","b"]', '[1]'],
  ),
  row('uniqueItems', { type: 'array', items: integer, uniqueItems: true }, ['[1,2]'], ['[1,1]']),
  row(
    'contains',
    { type: 'array', contains: integer, minContains: 2 },
    ['[1,"a",2]', '[1,2]'],
    ['["a"]', '[1,"a"]'],
  ),
  row('anyOf', { anyOf: [string, { type: 'integer', minimum: 10 }] }, ['"a"', '10'], ['9', 'null', '1.5']),
  row(
    'anyOf of overlapping objects',
    { anyOf: [closed({ a: integer }), closed({ a: integer, b: integer })] },
    ['{"a":1}', '{"a":1,"b":2}'],
    ['{"b":2}', '{"a":1,"c":1}'],
  ),
  row(
    'oneOf with a discriminator',
    { oneOf: [closed({ k: { const: 'a' }, x: integer }), closed({ k: { const: 'b' }, y: string })] },
    ['{"k":"a","x":1}', '{"k":"b","y":"z"}'],
    ['{"k":"a","y":"z"}', '{"k":"c"}'],
  ),
  row(
    'oneOf with an overlap',
    {
      oneOf: [
        { type: 'integer', multipleOf: 3 },
        { type: 'integer', multipleOf: 5 },
      ],
    },
    ['3', '5'],
    ['15'],
  ),
  row(
    'allOf of two objects',
    {
      allOf: [
        { type: 'object', properties: { a: integer }, required: ['a'] },
        { type: 'object', properties: { b: string }, required: ['b'] },
      ],
    },
    ['{"a":1,"b":"x"}'],
    ['{"a":1}', '{"b":"x"}', '{"a":"x","b":"x"}'],
  ),
  row(
    'allOf of bounds',
    { allOf: [{ type: 'integer', minimum: 5 }, { maximum: 7 }] },
    ['5', '7'],
    ['4', '8'],
  ),
  row(
    'allOf beside properties',
    { type: 'object', properties: { a: integer }, allOf: [{ required: ['a'] }] },
    ['{"a":1}'],
    ['{}', '{"a":"x"}'],
  ),
  row(
    'anyOf beside properties',
    {
      type: 'object',
      properties: { a: integer, b: integer },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
      additionalProperties: false,
    },
    ['{"a":1}', '{"b":1}'],
    ['{}', '{"c":1}'],
  ),
  row('not', { type: 'integer', not: { const: 5 } }, ['4', '6'], ['5']),
  row(
    'if, then, else',
    {
      type: 'object',
      properties: { k: { enum: ['a', 'b'] }, n: integer },
      required: ['k'],
      if: { properties: { k: { const: 'a' } } },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
      then: { required: ['n'] },
    },
    ['{"k":"a","n":1}', '{"k":"b"}'],
    ['{"k":"a"}'],
  ),
  row('$ref', { $ref: '#/$defs/n', $defs: { n: integer } }, ['1'], ['"a"', 'null']),
  row(
    '$ref to a tree',
    {
      $ref: '#/$defs/node',
      $defs: { node: closed({ v: integer, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }) },
    },
    ['{"v":1,"next":null}', '{"v":1,"next":{"v":2,"next":null}}'],
    ['{"v":1,"next":{"v":"a","next":null}}'],
  ),
  row(
    '$ref to the root',
    { type: 'object', properties: { child: { $ref: '#' } }, additionalProperties: false },
    ['{}', '{"child":{"child":{}}}'],
    ['{"child":1}', '{"other":{}}'],
  ),
  row(
    '$ref with a sibling',
    { $ref: '#/$defs/n', maximum: 5, $defs: { n: { type: 'integer', minimum: 1 } } },
    ['1', '5'],
    ['0', '6'],
  ),
  row(
    '$ref by anchor and id',
    {
      type: 'array',
      prefixItems: [{ $ref: '#num' }, { $ref: 'https://example.com/text' }],
      items: false,
      minItems: 2,
      $defs: {
        a: { $anchor: 'num', type: 'integer' },
        b: { $id: 'https://example.com/text', type: 'string' },
      },
    },
    ['[1,"a"]'],
    ['["a",1]'],
  ),
  row('$ref with escapes', { $ref: '#/$defs/a~1b%25~0', $defs: { 'a/b%~': integer } }, ['1'], ['"a"']),
  row(
    'lengths in code points',
    { type: 'string', minLength: 2, maxLength: 3 },
    ['"ab"', '"é€😀"', '"abc"'],
    ['"a"', '"abcd"', '""'],
  ),
  row(
    'escapes count as one character',
    { type: 'string', minLength: 2, maxLength: 2 },
    ['"\\n\\t"', '"\\"a"'],
    ['"\\n"'],
  ),
  row(
    'pattern with anchors',
    { type: 'string', pattern: '^[a-z]{2}[0-9]$' },
    ['"ab1"', '"zz9"'],
    ['"a1"', '"ab12"', '"AB1"', '""'],
  ),
  row('pattern without anchors', { type: 'string', pattern: 'b+' }, ['"abc"', '"b"'], ['"ac"', '""']),
  row(
    'pattern with classes',
    { type: 'string', pattern: '^\\w+\\s.$|^x$' },
    ['"a b"', '"A_1\\tz"', '"x"'],
    ['"ab"', '"y"'],
  ),
  row(
    'pattern whose match needs escapes',
    { type: 'string', pattern: '^["\\\\]$' },
    ['"\\""'],
    ['"a"', '""'],
  ),
  row('pattern with look-ahead', { type: 'string', pattern: '^(?=.*[0-9])[a-z0-9]+$' }, ['"a1"'], ['"ab"']),
  row(
    'pattern and lengths',
    { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 3 },
    ['"ab"', '"abc"'],
    ['"a"', '"abcd"', '"A1"'],
  ),
  row(
    'format date-time',
    { type: 'string', format: 'date-time' },
    ['"2024-02-29T12:00:00Z"', '"2024-01-31T23:59:59.5+02:00"'],
    ['"2023-02-29T12:00:00Z"', '"2024-01-01"'],
  ),
  row('format date', { type: 'string', format: 'date' }, ['"2024-12-31"'], ['"2024-13-01"', '"2024-04-31"']),
  row('format time', { type: 'string', format: 'time' }, ['"12:34:56Z"'], ['"25:00:00Z"', '"12:34"']),
  row('format duration', { type: 'string', format: 'duration' }, ['"P1DT2H"', '"P3W"'], ['"P"', '"1D"']),
  row(
    'format uuid',
    { type: 'string', format: 'uuid' },
    ['"123e4567-e89b-12d3-a456-426614174000"'],
    ['"123e4567"', '"123e4567-e89b-12d3-a456-42661417400g"'],
  ),
  row(
    'format email',
    { type: 'string', format: 'email' },
    ['"a.b@example.org"'],
    ['"a.b"', '"@example.org"', '"a@localhost"'],
  ),
  row('format ipv4', { type: 'string', format: 'ipv4' }, ['"192.168.0.1"'], ['"256.1.1.1"', '"1.2.3"']),
  row(
    'format ipv6',
    { type: 'string', format: 'ipv6' },
    ['"::1"', '"2001:db8::ff00:42:8329"'],
    ['"1::2::3"', '"12345::"'],
  ),
  row('format hostname', { type: 'string', format: 'hostname' }, ['"a.example"'], ['"-a.example"', '"a..b"']),
  row(
    'format uri',
    { type: 'string', format: 'uri' },
    ['"https://example.org/a?b#c"'],
    ['"not a uri"', '"/relative"'],
  ),
  row('unknown format', { type: 'string', format: 'colour' }, ['"red"'], ['1']),
  row(
    'integer with both bounds',
    { type: 'integer', minimum: 0, maximum: 120 },
    ['0', '7', '99', '120'],
    ['-1', '121', '129'],
  ),
  row(
    'integer with exclusive bounds',
    { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 },
    ['1', '9'],
    ['0', '10'],
  ),
  row('integer with one bound', { type: 'integer', minimum: -3 }, ['-3', '1000'], ['-4', '-10']),
  row(
    'number with both bounds',
    { type: 'number', minimum: -1.5, maximum: 2.5 },
    ['-1.5', '0', '2.5', '2.49'],
    ['-1.6', '2.51', '3', '-2'],
  ),
  row(
    'number with exclusive bounds',
    { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    ['0.5', '0.01'],
    ['0', '1', '1.1', '-0.1'],
  ),
  row('multipleOf integer', { type: 'integer', multipleOf: 7 }, ['0', '7', '49'], ['1', '8']),
  row('multipleOf fraction', { type: 'number', multipleOf: 0.01 }, ['0.01', '1.25', '3'], ['0.001']),
  row(
    'property schemas true and false',
    { type: 'object', properties: { a: true, b: false } },
    ['{"a":1}', '{"a":null}'],
    ['{"b":1}'],
  ),
  row(
    'white space',
    { type: 'object', properties: { a: integer }, required: ['a'] },
    ['{"a":1}', '{\n  "a": 1\n}'],
    [],
  ),
];
