import { expect, it } from 'vitest';
import {
  chooseReasoningFormat,
  endsInThinking,
  opensThinking,
  REASONING_FORMATS,
} from './reasoning-format.ts';

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

it('takes what the operator says over the template', () => {
  expect(chooseReasoningFormat('none', '<think>')).toBeNull();
  expect(chooseReasoningFormat('mistral', '<think>')).toBe('mistral');
});

const { format } = REASONING_FORMATS.think;

it.each([
  ['<|im_start|>assistant\n<think>\n', true],
  ['<|im_start|>assistant\n<think>', true],
  ['<|im_start|>assistant\n<think>\n\n</think>\n\n', false],
  ['What is <think>?<|im_end|>\n<|im_start|>assistant\n', false],
])('a prompt that ends with %j opens the thinking: %s', (prompt, isOpen) => {
  expect(opensThinking(format, prompt)).toBe(isOpen);
  expect(opensThinking(REASONING_FORMATS.channels.format, prompt)).toBe(false);
});

it.each([
  ['<think>\nso', true],
  ['<think>\nso</think>\n\nThe', false],
  ['The', false],
  ['', false],
])('an answer begun with %j goes on in the thinking: %s', (text, isOpen) => {
  expect(endsInThinking(format, text)).toBe(isOpen);
});
