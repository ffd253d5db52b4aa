import { chatCompletionRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import {
  type AnswerFormat,
  isWholeJson,
  type SchemaProperty,
  toFormatFields,
  toProperties,
  toSchema,
} from './answer-format.ts';

const rows: readonly SchemaProperty[] = [
  { name: 'name', type: 'string', values: '' },
  { name: 'tags', type: 'strings', values: '' },
  { name: 'mood', type: 'one of', values: 'good, bad' },
];

it.each<AnswerFormat>([
  { kind: 'text', text: '' },
  { kind: 'json_object', text: '' },
  { kind: 'schema', text: JSON.stringify(toSchema(rows)) },
  { kind: 'choice', text: 'yes\n\nno' },
  { kind: 'regex', text: '[0-9]+' },
])('asks for $kind in fields that the api takes', format => {
  const { fields } = toFormatFields(format) as { fields: object };
  const request = { messages: [{ role: 'user', content: 'x' }], ...fields };
  expect(chatCompletionRequest.safeParse(request).error).toBe(undefined);
});

it.each<AnswerFormat>([
  { kind: 'schema', text: '{' },
  { kind: 'choice', text: '\n' },
  { kind: 'regex', text: '' },
])('tells what is wrong with $kind', format => {
  expect(toFormatFields(format).fault).toMatch(/\w/);
});

it('makes a schema from a form, and the form from that schema', () => {
  expect(toSchema([...rows, { name: ' ', type: 'string', values: '' }])).toEqual({
    type: 'object',
    properties: {
      name: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
      mood: { enum: ['good', 'bad'] },
    },
    required: ['name', 'tags', 'mood'],
    additionalProperties: false,
  });
  expect(toProperties(JSON.stringify(toSchema(rows)))).toEqual(rows);
});

it.each(['{', '5', '{"type":"object","properties":{"a":{"type":"string","minLength":2}}}'])(
  'has no form for %s',
  text => {
    expect(toProperties(text)).toBe(null);
  },
);

it('knows when a JSON answer is whole', () => {
  const format: AnswerFormat = { kind: 'schema', text: '{}' };
  expect(isWholeJson(format, '{"a": 1')).toBe(false);
  expect(isWholeJson(format, '{"a": 1}')).toBe(true);
  expect(isWholeJson({ kind: 'text', text: '' }, '{}')).toBe(null);
});
