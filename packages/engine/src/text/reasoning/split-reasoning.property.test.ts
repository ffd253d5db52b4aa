import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReasoningFormatName } from '../../request/reasoning-parser.ts';
import { REASONING_FORMATS } from './reasoning-format.ts';
import { createReasoningSplitter } from './split-reasoning.ts';

function split(name: ReasoningFormatName, pieces: readonly string[], isOpen = false) {
  const splitter = createReasoningSplitter(REASONING_FORMATS[name].format, isOpen ? 'open' : 'possible');
  const parts = [...pieces.map(piece => splitter.push(piece)), splitter.finish()];
  return {
    reasoning: parts.map(part => part.reasoning).join(''),
    answer: parts.map(part => part.answer).join(''),
  };
}

const MARKS = [
  '<think>',
  '</think>',
  '[THINK]',
  '[/THINK]',
  '<seed:think>',
  'Here is my thought process:',
  "Here's my response:",
  'Here is my response:',
  '<|channel|>analysis<|message|>',
  '<|channel|>final<|message|>',
  '<|end|>',
  '<|start|>assistant',
  '<|return|>',
];
const fragment = fc.oneof(
  fc.constantFrom(...MARKS),
  fc.constantFrom('<', '</', '<thi', '[', 'Here', "Here's", '<|', '\n', ' ', 'a', 'nk>', '日本', '👍'),
);
const text = fc.array(fragment, { maxLength: 12 }).map(fragments => fragments.join(''));
const format = fc.constantFrom(...(Object.keys(REASONING_FORMATS) as ReasoningFormatName[]));

it('gives the same parts however the text is cut', () => {
  fc.assert(
    fc.property(format, text, fc.boolean(), fc.array(fc.nat(200)), (name, whole, isOpen, places) => {
      const cuts = [...new Set(places.map(place => place % (whole.length + 1)))].sort((a, b) => a - b);
      const pieces = [...cuts, whole.length].map((end, index) => whole.slice(cuts[index - 1] ?? 0, end));
      expect(split(name, pieces, isOpen)).toEqual(split(name, [whole], isOpen));
    }),
    { numRuns: 1_000 },
  );
});

it('loses no text but the marks and the blanks before the first one', () => {
  const tagged = fc.constantFrom('think', 'mistral', 'seed') as fc.Arbitrary<'think' | 'mistral' | 'seed'>;
  fc.assert(
    fc.property(tagged, text, (name, whole) => {
      const { reasoning, answer } = split(name, [whole]);
      const { starts, ends } = REASONING_FORMATS[name].format;
      const asWritten = [answer, starts[0] + reasoning, starts[0] + reasoning + ends[0] + answer];
      expect([whole, whole.trimStart()].some(shown => asWritten.includes(shown))).toBe(true);
    }),
  );
});

describe.each<[ReasoningFormatName, string, string]>([
  ['think', '<think>', '</think>'],
  ['mistral', '[THINK]', '[/THINK]'],
  ['seed', '<seed:think>', '</seed:think>'],
  ['granite', 'Here is my thought process:', 'Here is my response:'],
  ['granite', "Here's my thought process:", "Here's my response:"],
])('the format %s with %s', (name, start, end) => {
  it.each([
    ['thought and answer', [`${start}a`, `b${end}c`], false, 'ab', 'c'],
    ['blanks before the start', ['\n ', `${start}a${end}\n\nb`], false, 'a', '\n\nb'],
    ['no thought', ['just ', 'this'], false, '', 'just this'],
    ['blanks only', [' \n'], false, '', ' \n'],
    ['a start in the middle', [`x ${start}a${end}`], false, '', `x ${start}a${end}`],
    ['a thought without end', [`${start}a b`], false, 'a b', ''],
    ['a prompt that began the thought', ['a', `${end}b`], true, 'a', 'b'],
    ['a second thought', [`${start}a${end}b${start}c${end}`], false, 'a', `b${start}c${end}`],
    ['half an end', [`${start}a${end.slice(0, -1)}`], false, `a${end.slice(0, -1)}`, ''],
    ['half a start', [start.slice(0, -1)], false, '', start.slice(0, -1)],
  ])('splits %s', (_what, pieces, isOpen, reasoning, answer) => {
    expect(split(name, pieces, isOpen)).toEqual({ reasoning, answer });
  });
});

describe('channels', () => {
  it.each([
    [
      'an analysis and a final message',
      '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>',
      'a',
      'b',
    ],
    ['a final message alone', '<|channel|>final<|message|>b', '', 'b'],
    ['text without a header', 'b < c', '', 'b < c'],
    ['an analysis that never ended', '<|channel|>analysis<|message|>a <|en', 'a <|en', ''],
    ['a header that never ended', '<|channel|>analy', '', ''],
    [
      'two analyses and a comment',
      '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>' +
        '<|start|>assistant<|channel|>commentary to=f <|constrain|>json<|message|>{}<|call|>',
      'ab',
      '{}',
    ],
  ])('split %s', (_what, whole, reasoning, answer) => {
    expect(split('channels', [whole])).toEqual({ reasoning, answer });
    expect(split('channels', [...whole])).toEqual({ reasoning, answer });
  });
});

it('streams the reasoning, but for text that may be the beginning of the end mark', () => {
  const splitter = createReasoningSplitter(REASONING_FORMATS.think.format, 'possible');
  const given = ['<th', 'ink>One', ' two </', 'b> </think', '>!'].map(piece => {
    const { reasoning, answer } = splitter.push(piece);
    return [reasoning, answer, splitter.isReasoning];
  });
  expect(given).toEqual([
    ['', '', false],
    ['One', '', true],
    [' two ', '', true],
    ['</b> ', '', true],
    ['', '!', false],
  ]);
});
