import { expect, it } from 'vitest';
import { readChatArguments } from './chat.ts';

it.each([
  [[], undefined, {}],
  [['Hello!'], undefined, { question: 'Hello!' }],
  [['What is TCP/IP?'], undefined, { question: 'What is TCP/IP?' }],
  [['Hello!'], 'org/model', { model: 'org/model', question: 'Hello!' }],
  [['org/model', 'Hello!'], undefined, { model: 'org/model', question: 'Hello!' }],
  [['org/model:Q8_0'], undefined, { model: 'org/model:Q8_0' }],
  [['org/model'], 'other', { model: 'other', question: 'org/model' }],
  [[import.meta.dirname], undefined, { model: import.meta.dirname }],
])('reads %j with --model %j', (args, model, expected) => {
  expect(readChatArguments(args, model)).toEqual({ model: undefined, question: undefined, ...expected });
});

it('refuses two models', () => {
  expect(() => readChatArguments(['What', 'is'], 'org/model')).toThrow('Put a question in quotes.');
});
