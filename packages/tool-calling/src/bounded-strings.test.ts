// Strings between tags whose schema bounds their length: they end with the first mark that ends them, for grammar and parser.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomModels, randomNumbers } from '../test/random-calls.ts';
import { readCalls } from '../test/read-calls.ts';
import { NAMED_DIALECTS } from './dialects/named-dialects.ts';
import { createToolGrammar } from './grammar/tool-grammar.ts';
import type { Tool } from './tool-dialect.ts';

/** Marks that a tokenizer may have as special tokens, which no text matches. */
const MARKS_OF_SPECIAL_TOKENS = new Set(['｜DSML｜', '</param>', '<![CDATA[']);

describe.each([
  ['qwen3-coder', ''],
  ['glm-4.5', ''],
  ['glm-4.7', ''],
  ['deepseek-v4', ''],
  ['deepseek-v4', 'special tokens'],
  ['minicpm-5', ''],
  ['minicpm-5', 'special tokens'],
] as const)('%s %s', (name, special) => {
  const { dialect } = NAMED_DIALECTS[name];
  let models: RandomModels;
  beforeAll(() => {
    models = new RandomModels(dialect, token => special !== '' && MARKS_OF_SPECIAL_TOKENS.has(token));
  });
  afterAll(() => models.close());

  it.each([
    [{ minLength: 3, maxLength: 60 }, 3, 60],
    [{ minLength: 5 }, 5, Infinity],
    [{ maxLength: 8 }, 0, 8],
  ])('keeps a string within %j', async (bounds, min, max) => {
    const properties = { a: { type: 'string', ...bounds }, n: { type: 'integer' } };
    const tool: Tool = { name: 'f', isStrict: true, parameters: { properties, required: ['a', 'n'] } };
    const rule = { choice: 'required', isParallel: false } as const;
    const tag = createToolGrammar({ dialect, tools: [tool], rule, placeOf: () => 'tools' });
    const form = dialect.arguments;
    // The model likes the mark, so that it stands where a string is still too short.
    const model = await models.compile(
      tag,
      new Set(
        form.kind === 'tagged' ? [form.close, `]]>${form.close}`, '</', ...MARKS_OF_SPECIAL_TOKENS] : [],
      ),
    );
    // At random a mark of several tokens ends a string too seldom.
    if (special !== '' && max === Infinity) return;
    for (let seed = 0; seed < 20; seed++) {
      const { text, isWhole } = model.generate(randomNumbers(seed));
      expect(isWhole, text).toBe(true);
      const { calls } = readCalls(dialect, [tool], [text]);
      expect(calls, text).toHaveLength(1);
      const { a, n } = JSON.parse(calls[0]!.arguments) as { a: string; n: number };
      expect([...a].length, text).toBeGreaterThanOrEqual(min);
      expect([...a].length, text).toBeLessThanOrEqual(max);
      expect(Number.isInteger(n), text).toBe(true);
    }
  });
});
