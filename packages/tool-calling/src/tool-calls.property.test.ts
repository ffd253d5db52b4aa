// A model of random logits: whatever it writes under the grammar of a dialect, the parser reads as calls of known functions
// whose arguments are valid for an independent validator.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { runs } from 'test-runs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXAMPLE_TOOLS } from '../test/example-tools.ts';
import { type RandomModel, RandomModels, randomNumbers } from '../test/random-calls.ts';
import { readCalls } from '../test/read-calls.ts';
import { NAMED_DIALECTS, TOOL_DIALECT_NAMES } from './dialects/named-dialects.ts';
import { createToolGrammar } from './grammar/tool-grammar.ts';
import type { CallRule, ToolDialect } from './tool-dialect.ts';

const COUNT = runs({ daily: 2, full: Math.ceil(1000 / 3 / TOOL_DIALECT_NAMES.length) });
const LOOP_COUNT = runs({ daily: 1, full: 10 });
const validators = new Map(
  EXAMPLE_TOOLS.map(({ name, parameters }) => [
    name,
    new Ajv2020({ strictNumbers: false }).compile(parameters),
  ]),
);

/** Texts that end a value in this dialect. */
function endsOf({ arguments: form, section }: ToolDialect): ReadonlySet<string> {
  const close = form.kind === 'tagged' ? form.close : '';
  const mark = form.kind === 'literals' && form.notation.quote !== 'json' ? form.notation.quote.mark : '';
  return new Set([close, mark, section.close, '<|end|>'].filter(text => text !== ''));
}

describe.each(TOOL_DIALECT_NAMES)('%s', dialectName => {
  const { dialect } = NAMED_DIALECTS[dialectName];
  let models: RandomModels;
  beforeAll(() => {
    models = new RandomModels(dialect);
  });
  afterAll(() => models.close());

  const compile = (rule: CallRule): Promise<RandomModel> => {
    const placeOf = () => 'tools';
    const tag = createToolGrammar({ dialect, tools: EXAMPLE_TOOLS, rule, placeOf });
    return models.compile(
      tag,
      new Set([...endsOf(dialect), ...(rule.choice === 'auto' ? [dialect.trigger] : [])]),
    );
  };

  const rules: readonly [string, CallRule, { readonly min: number; readonly max: number }][] = [
    ['required', { choice: 'required', isParallel: true }, { min: 1, max: Infinity }],
    ['one that is named', { choice: { name: 'save' }, isParallel: true }, { min: 1, max: 1 }],
    ['auto, one call', { choice: 'auto', isParallel: false }, { min: 0, max: 1 }],
  ];
  it.each(rules)('%s: every call is read, known and valid', async (_, rule, { min, max }) => {
    const model = await compile(rule);
    let wholeCount = 0;
    for (let seed = 0; seed < COUNT; seed++) {
      const { text, isWhole } = model.generate(randomNumbers(seed));
      const { calls } = readCalls(dialect, EXAMPLE_TOOLS, [text]);
      expect(readCalls(dialect, EXAMPLE_TOOLS, [...text])).toEqual(readCalls(dialect, EXAMPLE_TOOLS, [text]));
      if (!isWhole) continue;
      wholeCount++;
      expect(calls.length, text).toBeGreaterThanOrEqual(min);
      expect(calls.length, text).toBeLessThanOrEqual(max);
      if (rule.choice === 'auto' && dialect.position === 'anywhere' && text.includes(dialect.trigger))
        expect(calls, text).toHaveLength(1);
      for (const { name, arguments: json } of calls) {
        if (typeof rule.choice === 'object') expect(name).toBe(rule.choice.name);
        const validate = validators.get(name)!;
        expect(validate(JSON.parse(json)), `${text}\n${JSON.stringify(validate.errors)}`).toBe(true);
      }
    }
    expect(wholeCount).toBeGreaterThan(COUNT / 2);
  });

  // Channels have reasoning before the call, which is as long as the model likes.
  const loops = dialect.isChannelled ? [] : ['7', 'abc', ' ', '\n'];
  it.each(loops)('a model that writes %j wherever it may ends a valid call', async liked => {
    const model = await compile({ choice: 'required', isParallel: false });
    for (let seed = 0; seed < LOOP_COUNT; seed++) {
      const { text, isWhole } = model.generate(randomNumbers(seed), new Set([liked]));
      expect(isWhole, text).toBe(true);
      const { calls } = readCalls(dialect, EXAMPLE_TOOLS, [text]);
      expect(calls, text).toHaveLength(1);
      const { name, arguments: json } = calls[0]!;
      expect(validators.get(name)!(JSON.parse(json)), text).toBe(true);
      // Strings have no limit of digits, and zeros at the end of a number do not count.
      expect(json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')).not.toMatch(/\d{22}|[1-9]{20}/);
    }
  });
});
