import { expect, it } from 'vitest';
import { chooseReasoningFormat, findReasoningStart, REASONING_FORMATS } from './reasoning-format.ts';

it.each([
  ["{{ '<think>\\n' }}", 'think'],
  ['... [THINK] ...', 'mistral'],
  ['<seed:think>', 'seed'],
  ['Respond with "Here is my thought process:" first', 'granite'],
  ["{{ '<|start|>assistant<|channel|>' }}", 'channels'],
  ['{{ messages }}', null],
  [null, null],
])('reads off the template %j that the format is %s', (template, name) => {
  expect(chooseReasoningFormat('auto', template)).toBe(name);
});

it('takes the format that is named over that of the template', () => {
  expect(chooseReasoningFormat('none', '<think>')).toBeNull();
  expect(chooseReasoningFormat('mistral', '<think>')).toBe('mistral');
});

const { format } = REASONING_FORMATS.think;

it.each([
  ['<|im_start|>assistant\n<think>\n', 'open'],
  ['<|im_start|>assistant\n<think>', 'open'],
  ['<|im_start|>assistant\n<think>\n\n</think>\n\n', 'closed'],
  ['What is <think>?<|im_end|>\n<|im_start|>assistant\n', 'possible'],
])('reasoning after a prompt that ends with %j is %s', (tail, start) => {
  expect(findReasoningStart(format, { tail, continuedText: null })).toBe(start);
  const { channels } = REASONING_FORMATS;
  expect(findReasoningStart(channels.format, { tail, continuedText: null })).toBe('possible');
});

it.each([
  ['<think>\nso', 'open'],
  ['<think>\nso</think>\n\nThe', 'closed'],
  ['The', 'closed'],
  ['', 'closed'],
])('reasoning after the message %j, which is continued, is %s', (continuedText, start) => {
  expect(findReasoningStart(format, { tail: '<think>', continuedText })).toBe(start);
});
