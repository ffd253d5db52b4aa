import { expect, it } from 'vitest';
import { ComponentTable, type Json, pascalCase } from './component-table.ts';

const text = { type: 'string' };
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more });
const ref = (name: string, more: Json = {}) => ({ $ref: `#/components/schemas/${name}`, ...more });

it('names known schemas, wherever they are used, and keeps what is said of the place', () => {
  const city = object({ name: text }, { description: 'A city.' });
  const table = new ComponentTable([{ name: 'City', suffix: 'Output', schema: city }]);
  const capital = { ...city, description: 'The capital.', deprecated: true };
  expect(table.refer(object({ capital, others: { type: 'array', items: city } }), 'Country')).toEqual(
    ref('Country'),
  );
  expect(table.toJson()).toEqual({
    City: city,
    Country: object({
      capital: ref('City', { description: 'The capital.', deprecated: true }),
      others: { type: 'array', items: ref('City') },
    }),
  });
});

it('names other objects after their owner and property, and members of unions by their type', () => {
  const member = (type: string) => object({ type: { const: type }, value: object({ text }) });
  const table = new ComponentTable([]);
  table.refer(object({ part_one: { anyOf: [member('a.b'), member('event_c'), { type: 'null' }] } }), 'Event');
  // Not `EventPartOneEventC`, and no second name for the value, which has the same type in both.
  expect(Object.keys(table.toJson())).toEqual([
    'Event',
    'EventPartOneAB',
    'EventPartOneABValue',
    'EventPartOneC',
  ]);
});

it('distinguishes the one object of a named union from the union', () => {
  const choice = { anyOf: [text, object({ type: { const: 'function' } })] };
  const table = new ComponentTable([{ name: 'Choice', suffix: 'Input', schema: choice }]);
  table.refer(object({ choice, maybe: { anyOf: [object({ text }), { type: 'null' }] } }), 'Request');
  expect(Object.keys(table.toJson())).toEqual(['Choice', 'ChoiceFunction', 'Request', 'RequestMaybe']);
});

it('gives two forms of one schema two names', () => {
  const forms = [object({ a: text }), object({ a: text }, { additionalProperties: false })];
  const table = new ComponentTable([
    { name: 'Tool', suffix: 'Input', schema: forms[0]! },
    { name: 'Tool', suffix: 'Output', schema: forms[1]! },
  ]);
  expect([...forms, ...forms].map(form => table.refer(form, ''))).toEqual(
    ['Tool', 'ToolOutput', 'Tool', 'ToolOutput'].map(name => ref(name)),
  );
});

it('leaves properties alone that are called like keywords', () => {
  const table = new ComponentTable([]);
  const schema = object({ properties: text, anyOf: { type: 'array', items: text }, items: object({ text }) });
  table.refer(schema, 'Odd');
  expect(table.toJson()).toMatchObject({
    Odd: { properties: { properties: text, anyOf: { items: text }, items: ref('OddItems') } },
  });
});

it.each([
  ['json_schema', 'JsonSchema'],
  ['createFeedback', 'CreateFeedback'],
  ['response.output_text.delta', 'ResponseOutputTextDelta'],
])('writes %s as %s', (name, pascal) => {
  expect(pascalCase(name)).toBe(pascal);
});
