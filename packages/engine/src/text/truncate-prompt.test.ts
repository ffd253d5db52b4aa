import fc from 'fast-check';
import { expect, test } from 'vitest';
import { truncatePrompt } from './truncate-prompt.ts';

const prompt = Int32Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
const truncated = (keep: number | undefined, maxTokens: number | undefined, contextLength = 8) =>
  Array.from(truncatePrompt(prompt, { keep, maxTokens, contextLength }));

test.each<[number | undefined, number | undefined, number[]]>([
  [undefined, 1, [...prompt]],
  [1, 1, [10]],
  [3, undefined, [8, 9, 10]],
  [6, 2, [5, 6, 7, 8, 9, 10]],
  [-1, 5, [8, 9, 10]],
  [-1, undefined, [4, 5, 6, 7, 8, 9, 10]],
])('keep %s with %s tokens asked for leaves %j', (keep, maxTokens, left) => {
  expect(truncated(keep, maxTokens)).toEqual(left);
});

test.each<[number, number | undefined]>([
  [0, undefined],
  [-2, undefined],
  [1.5, undefined],
  [9, undefined],
  [7, 2],
  [1, 8],
])('keep %s with %s tokens asked for is refused', (keep, maxTokens) => {
  expect(() => truncated(keep, maxTokens)).toThrow(
    expect.objectContaining({ code: 'invalid_request', parameter: 'truncatePromptTokens' }),
  );
});

test('what is kept is the end of the prompt, and with -1 it fits whenever anything does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(99), { maxLength: 40 }),
      fc.integer({ min: 2, max: 30 }),
      fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
      (ids, contextLength, maxTokens) => {
        fc.pre((maxTokens ?? 1) < contextLength);
        const kept = truncatePrompt(Int32Array.from(ids), { keep: -1, maxTokens, contextLength });
        expect(Array.from(kept)).toEqual(ids.slice(ids.length - kept.length));
        expect(kept.length).toBe(Math.min(ids.length, contextLength - (maxTokens ?? 1)));
      },
    ),
  );
});
