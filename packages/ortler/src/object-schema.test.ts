import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toJsonSchema, validate } from './object-schema.ts';

const person = z.object({ name: z.string(), age: z.int().min(0) });

describe('a Zod schema', () => {
  it('gives the JSON Schema of its input', () => {
    const schema = z.object({
      count: z.number().default(1),
      at: z.string().transform(text => new Date(text)),
    });
    expect(toJsonSchema(schema)).toMatchObject({
      type: 'object',
      properties: { count: { type: 'number', default: 1 }, at: { type: 'string' } },
      required: ['at'],
    });
  });

  it('gives the value of its output', async () => {
    const schema = z.object({ at: z.string().transform(text => text.length) });
    expect(await validate(schema, { at: 'abc' })).toEqual({ kind: 'valid', value: { at: 3 } });
  });

  it('names every rule that a value breaks, and where', async () => {
    const result = await validate(person, { name: 1, age: -1 });
    expect(result).toMatchObject({
      kind: 'invalid',
      problem: expect.stringMatching(/string.*\(at name\); .*0.*\(at age\)/),
    });
  });
});

it('a plain JSON Schema is handed on, and its values are not validated again', async () => {
  const schema = { type: 'object', properties: { name: { type: 'string' } } };
  expect(toJsonSchema(schema)).toBe(schema);
  expect(await validate(schema, { name: 'Ada' })).toEqual({ kind: 'valid', value: { name: 'Ada' } });
});

describe('is refused by its name', () => {
  const standard = (vendor: string) => ({
    '~standard': { version: 1, vendor, validate: () => ({ value: 1 }) },
  });
  it.each([
    ['null', null, 'must be a schema; got null'],
    ['a question', 'What?', 'must be a schema; got What?'],
    ['a Zod schema of a date', z.object({ at: z.date() }), 'zod has no JSON Schema: Date cannot'],
    [
      'a schema of Valibot without JSON Schema',
      standard('valibot'),
      'toStandardJsonSchema of @valibot/to-json-schema',
    ],
    [
      'another schema without JSON Schema',
      standard('other'),
      'other has no JSON Schema (Standard JSON Schema).',
    ],
  ])('%s', (_, schema, message) => {
    expect(() => toJsonSchema(schema as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        parameter: 'schema',
        message: expect.stringContaining(message),
      }),
    );
  });
});
