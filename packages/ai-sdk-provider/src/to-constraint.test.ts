import { InvalidArgumentError, type LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import type { OrtlerProviderOptions } from './provider-options.ts';
import { toConstraint } from './to-constraint.ts';

type Format = LanguageModelV4CallOptions['responseFormat'];
const schema = { type: 'object' } as const;
const tag = { format: { type: 'const_string', value: 'a' } };

it.each<[Format, OrtlerProviderOptions, unknown]>([
  [undefined, {}, undefined],
  [{ type: 'text' }, {}, undefined],
  [{ type: 'json' }, {}, { jsonObject: true }],
  [{ type: 'json', schema }, {}, { jsonSchema: schema }],
  [
    { type: 'json', schema },
    { strictJsonSchema: true, jsonStyle: { whitespace: 'none', closeObjects: undefined } },
    { jsonSchema: schema, strict: true, style: { whitespace: 'none' } },
  ],
  [undefined, { constraint: { regex: 'a+' } }, { regex: 'a+' }],
  [{ type: 'text' }, { constraint: { choice: ['a', 'b'] } }, { choice: ['a', 'b'] }],
  [undefined, { constraint: { grammar: 'root ::= "a"' } }, { grammar: 'root ::= "a"' }],
  [undefined, { constraint: { structuralTag: tag } }, { structuralTag: tag }],
])('the format %j with the options %j gives the constraint %j', (format, options, constraint) => {
  expect(toConstraint(format, options)).toStrictEqual(constraint);
});

it.each<[Format, OrtlerProviderOptions, string]>([
  [{ type: 'json' }, { constraint: { regex: 'a+' } }, 'constraint cannot be combined with a JSON response'],
  [undefined, { strictJsonSchema: true }, 'strictJsonSchema needs a JSON response format'],
  [undefined, { jsonStyle: { whitespace: 'none' } }, 'jsonStyle needs a JSON response format'],
])('refuses the format %j with the options %j', (format, options, message) => {
  expect(() => toConstraint(format, options)).toThrow(InvalidArgumentError);
  expect(() => toConstraint(format, options)).toThrow(message);
});
