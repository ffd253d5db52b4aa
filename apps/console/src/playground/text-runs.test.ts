import { expect, it } from 'vitest';
import type { ShownToken } from './answer-reader.ts';
import { toTextRuns, toTokenRuns } from './text-runs.ts';

const tokens = Array.from({ length: 500 }, (_, index): ShownToken => {
  const text = index % 10 === 9 ? 'end.\n' : 'word ';
  return { id: index, text, logprob: -1, part: 'answer', candidates: [] };
});
const text = tokens.map(token => token.text).join('');

it('runs join to the whole text, and end at ends of lines', () => {
  const runs = toTokenRuns(tokens);
  expect(runs.length).toBeGreaterThan(3);
  expect(runs.flatMap(run => run.tokens)).toEqual(tokens);
  for (const run of runs) expect(run.tokens[0]).toBe(tokens[run.start]);
  for (const run of runs) expect(run.tokens.at(-1)!.text).toMatch(/\n$/);
  const texts = toTextRuns(text);
  expect(texts.length).toBeGreaterThan(3);
  expect(texts.join('')).toBe(text);
  for (const run of texts) expect(run).toMatch(/\n$/);
});

it('what is added changes the last run alone', () => {
  for (let count = 2; count < tokens.length; count++) {
    const before = toTokenRuns(tokens.slice(0, count - 1)).slice(0, -1);
    expect(toTokenRuns(tokens.slice(0, count)).slice(0, before.length)).toEqual(before);
  }
  for (let length = 1; length < text.length; length++) {
    const before = toTextRuns(text.slice(0, length - 1)).slice(0, -1);
    expect(toTextRuns(text.slice(0, length)).slice(0, before.length)).toEqual(before);
  }
});

it('a text of one line is one run', () => {
  expect(toTokenRuns(tokens.map(token => ({ ...token, text: 'word ' })))).toHaveLength(1);
  expect(toTextRuns(text.replaceAll('\n', ' '))).toHaveLength(1);
  expect(toTextRuns('')).toEqual(['']);
});
