// Schemas that contain themselves, in every form of arguments: what is written is read and valid.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomModels, randomNumbers } from '../test/random-calls.ts';
import { readCalls } from '../test/read-calls.ts';
import { NAMED_DIALECTS } from './dialects/named-dialects.ts';
import { createToolGrammar } from './grammar/tool-grammar.ts';
import type { Tool } from './tool-dialect.ts';

const NODE = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
    all: { type: 'array', items: { $ref: '#/$defs/node' } },
  },
  required: ['n'],
};

const toolOf = (parameters: Tool['parameters']): Tool => ({ name: 'draw', parameters, isStrict: false });
const RECURSIVE: readonly (readonly [string, Tool])[] = [
  [
    'a definition',
    toolOf({
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      required: ['tree'],
      $defs: { node: NODE },
    }),
  ],
  [
    'the arguments',
    toolOf({ type: 'object', properties: { n: { type: 'integer' }, inner: { $ref: '#' } }, required: ['n'] }),
  ],
  [
    'a property',
    toolOf({
      type: 'object',
      properties: {
        a: {
          type: 'object',
          properties: { b: { type: 'boolean' }, more: { $ref: '#/properties/a' } },
          required: ['b'],
        },
      },
      required: ['a'],
    }),
  ],
  [
    'definitions that refer to each other, one of which never ends',
    toolOf({
      type: 'object',
      properties: { x: { anyOf: [{ $ref: '#/$defs/endless' }, { $ref: '#/$defs/a' }] } },
      required: ['x'],
      $defs: {
        a: { type: 'object', properties: { b: { $ref: '#/$defs/b' } } },
        b: { type: 'array', items: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'boolean' }] } },
        endless: { type: 'object', properties: { e: { $ref: '#/$defs/endless' } }, required: ['e'] },
      },
    }),
  ],
];

/** One or two of each form of arguments. */
const DIALECTS = ['hermes', 'qwen3-coder', 'glm-4.5', 'pythonic', 'gemma-4'] as const;

describe.each(DIALECTS)('%s', dialectName => {
  const { dialect } = NAMED_DIALECTS[dialectName];
  let models: RandomModels;
  beforeAll(() => {
    models = new RandomModels(dialect);
  });
  afterAll(() => models.close());

  it.each(RECURSIVE)('writes %s inside itself', async (_, tool) => {
    const validate = new Ajv2020({ strict: false }).compile(tool.parameters);
    const rule = { choice: 'required', isParallel: false } as const;
    const tag = createToolGrammar({ dialect, tools: [tool], rule, placeOf: () => 'tools' });
    const ends = new Set(['<|end|>', ']', '}']);
    const model = await models.compile(tag, ends);
    // A random text may be long and cut off; one that likes ends is whole.
    for (const liked of [undefined, ends]) {
      const { text, isWhole } = model.generate(randomNumbers(7), liked);
      const { calls } = readCalls(dialect, [tool], [text]);
      if (liked !== undefined) expect(isWhole, text).toBe(true);
      if (!isWhole) continue;
      expect(calls, text).toHaveLength(1);
      expect(validate(JSON.parse(calls[0]!.arguments)), text).toBe(true);
    }
  });
});

it.each(['pythonic', 'gemma-4'] as const)('%s refuses values that are nested without end', dialectName => {
  const { dialect } = NAMED_DIALECTS[dialectName];
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] };
  const tool = toolOf({ properties: { a: { $ref: '#/$defs/node' } }, required: ['a'], $defs: { node } });
  const rule = { choice: 'required', isParallel: true } as const;
  const options = { dialect, tools: [tool], rule, placeOf: () => 'tools' };
  expect(() => createToolGrammar(options)).toThrow('nested without end (at tools)');
  const optional = toolOf({ properties: { a: { $ref: '#/$defs/node' } }, $defs: { node } });
  expect(() => createToolGrammar({ ...options, tools: [optional] })).not.toThrow();
});
