// Schemas of arguments in notations that are not JSON: what is written fits them, or they are refused.

import { printJson } from '@ortler/json';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomModels, randomNumbers } from '../../test/random-calls.ts';
import { readCalls } from '../../test/read-calls.ts';
import { NAMED_DIALECTS } from '../dialects/named-dialects.ts';
import type { Tool } from '../tool-dialect.ts';
import { createToolGrammar } from './tool-grammar.ts';

const toolOf = (parameters: Tool['parameters'], isStrict: boolean): Tool => ({
  name: 'f',
  parameters,
  isStrict,
});
const argumentOf = (schema: object, isStrict = false) =>
  toolOf(
    {
      type: 'object',
      properties: { a: schema },
      required: ['a'],
      $defs: {
        count: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        word: { type: 'string', minLength: 1 },
      },
    },
    isStrict,
  );

const grammarOf = (dialect: (typeof NAMED_DIALECTS)['hermes']['dialect'], tool: Tool) => {
  const rule = { choice: 'required', isParallel: false } as const;
  return createToolGrammar({ dialect, tools: [tool], rule, placeOf: () => 'tools' });
};

describe.each(['qwen3-coder', 'deepseek-v4', 'minicpm-5', 'pythonic', 'gemma-4'] as const)('%s', name => {
  const { dialect } = NAMED_DIALECTS[name];
  let models: RandomModels;
  beforeAll(() => {
    models = new RandomModels(dialect);
  });
  afterAll(() => models.close());

  /** Arguments of random calls. */
  async function write(tool: Tool): Promise<readonly unknown[]> {
    const form = dialect.arguments;
    const model = await models.compile(
      grammarOf(dialect, tool),
      new Set(form.kind === 'tagged' ? [form.close] : []),
    );
    return Array.from({ length: 12 }, (_, seed) => {
      const { text, isWhole } = model.generate(randomNumbers(seed));
      expect(isWhole, text).toBe(true);
      const { calls } = readCalls(dialect, [tool], [text]);
      expect(calls, text).toHaveLength(1);
      return JSON.parse(calls[0]!.arguments);
    });
  }

  it.each<[object, 'strict' | 'not strict']>([
    [{ enum: ['1', true, 2], type: 'string' }, 'strict'],
    [{ enum: ['1', 'x', 2] }, 'strict'],
    [{ const: 7, type: 'integer' }, 'strict'],
    [{ anyOf: [{ type: 'string', enum: ['x', 'y'] }, { type: 'null' }] }, 'strict'],
    [{ oneOf: [{ const: 'x', title: 'X' }, { const: 'y' }] }, 'not strict'],
    [{ anyOf: [{ const: 'x' }, { const: 5 }], type: 'string' }, 'strict'],
    [{ type: ['string', 'null'], maxLength: 3 }, 'strict'],
    [{ $ref: '#/$defs/word', maxLength: 2 }, 'strict'],
    [{ allOf: [{ $ref: '#/$defs/count' }], description: 'How many.' }, 'strict'],
    [
      { allOf: [{ $ref: '#/$defs/count' }, { properties: { m: { type: 'boolean' } }, required: ['m'] }] },
      'strict',
    ],
    [{ allOf: [{ type: 'integer' }, { type: 'number', minimum: 5 }] }, 'strict'],
    [{ type: 'array', items: { type: 'integer' }, minItems: 1 }, 'strict'],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, 'strict'],
  ])('writes values of %j', async (schema, strictness) => {
    const tool = argumentOf(schema, strictness === 'strict');
    const validate = new Ajv2020({ strict: false }).compile(tool.parameters);
    for (const value of await write(tool)) expect(validate(value), JSON.stringify(value)).toBe(true);
  });

  it('writes entries that an open object does not name', async () => {
    const schema = { type: 'object', additionalProperties: { type: 'integer' } };
    const values = (await write(argumentOf(schema))) as readonly { a: object }[];
    expect(values.some(({ a }) => Object.keys(a).length > 0)).toBe(true);
  });

  it('writes names that are no identifiers', async () => {
    const names = ['Content-Type', '$filter', '@odata.type', '3d', 'état', 'class'];
    const properties = Object.fromEntries(names.map(each => [each, { type: 'integer', maximum: 9 }]));
    for (const value of await write(toolOf({ type: 'object', properties, required: names }, true)))
      expect(Object.keys(value as object)).toEqual(names);
  });

  it('writes no arguments of a function that declares none', async () => {
    for (const value of await write(toolOf({ type: 'object', properties: {} }, false)))
      expect(value).toEqual({});
  });

  it('writes long numbers of an enum as they are', () => {
    const tool = argumentOf({ enum: [9_007_199_254_740_993n] });
    expect(printJson(grammarOf(dialect, tool) as never)).toContain('9007199254740993');
  });

  it.each([
    [{ allOf: [{ type: 'integer' }, { type: 'boolean' }] }, 'allows nothing'],
    [{ type: 'string', enum: [1] }, 'allows nothing'],
    [{ $ref: '#/$defs/word', allOf: [{ pattern: 'a' }, { pattern: 'b' }] }, 'keyword pattern'],
    [{ $ref: '#/%' }, 'is not a schema'],
  ])('refuses a strict %j', (schema, problem) => {
    expect(() => grammarOf(dialect, argumentOf(schema, true))).toThrow(problem);
  });

  it('takes or refuses a schema of thousands of parts at once', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [
        `p${i}`,
        { anyOf: [{ type: 'integer' }, { $ref: '#/$defs/d' }] },
      ]),
    );
    const $defs = { d: { type: 'array', items: { $ref: '#/properties/p0' } } };
    const startMs = performance.now();
    for (const required of [[], Object.keys(properties)])
      try {
        grammarOf(dialect, toolOf({ properties, required, $defs }, false));
      } catch (error) {
        expect((error as Error).message).toMatch(/optional properties|too many parts/);
      }
    expect(performance.now() - startMs).toBeLessThan(3000);
  });

  it('answers at once where every definition refers to the next one twice', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => {
        const next = { $ref: `#/$defs/d${i + 1}` };
        return [`d${i}`, { anyOf: [next, next], allOf: [{ description: 'd' }], maxLength: 100 - i }];
      }),
    );
    const tool = toolOf(
      { properties: { a: { $ref: '#/$defs/d0' } }, $defs: { ...$defs, d60: { type: 'string' } } },
      false,
    );
    const startMs = performance.now();
    expect(() => grammarOf(dialect, tool)).toThrow(/too many parts|too deeply/);
    readCalls(dialect, [tool], ['<tool_call>\n<function=f>\n<parameter=a>\nx\n</parameter>\n']);
    expect(performance.now() - startMs).toBeLessThan(2000);
  });
});

it.each(['a=b', 'a:b', 'a b', 'a)', '}', ','])('the name %j, which would end early, is refused', name => {
  const tool = toolOf({ type: 'object', properties: { [name]: {} } }, false);
  for (const dialect of ['pythonic', 'gemma-4'] as const)
    expect(() => grammarOf(NAMED_DIALECTS[dialect].dialect, tool)).toThrow(
      'The name of this argument cannot be written',
    );
});

it.each([
  [{ anyOf: [{ type: 'string' }, { type: 'integer', minimum: 5 }] }, 'keyword minimum'],
  [{ anyOf: [{ type: 'string' }, { const: true }] }, 'keyword enum'],
  [{ anyOf: [{ type: 'string', pattern: 'x' }, { type: 'null' }] }, 'keyword pattern'],
])('a strict %j, whose text would be read as another value, is refused between tags', (schema, problem) => {
  const { dialect } = NAMED_DIALECTS['qwen3-coder'];
  expect(() => grammarOf(dialect, argumentOf(schema, true))).toThrow(problem);
});
