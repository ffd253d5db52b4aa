import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { UnsupportedFunctionalityError } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { toChatMessages } from './to-chat-messages.ts';

it('keeps roles and texts, and reasoning apart from the answer', () => {
  const prompt: LanguageModelV4Message[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'They greet ' },
        { type: 'reasoning', text: 'me.' },
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo!' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
    },
  ];
  expect(toChatMessages(prompt)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello!', reasoning_content: 'They greet me.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'One.' },
        { type: 'text', text: 'Two.' },
      ],
    },
  ]);
});

it('gives an assistant without reasoning no reasoning', () => {
  expect(toChatMessages([{ role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] }])).toEqual([
    { role: 'assistant', content: 'Yes.' },
  ]);
});

const image = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } } as const;
const call = { type: 'tool-call', toolCallId: '1', toolName: 'clock', input: {} } as const;
const result = {
  type: 'tool-result',
  toolCallId: '1',
  toolName: 'clock',
  output: { type: 'text', value: 'noon' },
} as const;

it.each<[string, LanguageModelV4Message]>([
  ['file parts (image/png)', { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }],
  ['file parts (image/png)', { role: 'assistant', content: [image] }],
  ['tool-call parts', { role: 'assistant', content: [call] }],
  ['tool-result parts', { role: 'assistant', content: [result] }],
  ['tool messages', { role: 'tool', content: [result] }],
  ['custom parts', { role: 'assistant', content: [{ type: 'custom', kind: 'openai.search' }] }],
])('refuses %s by name', (functionality, message) => {
  const refused = () => toChatMessages([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }, message]);
  expect(refused).toThrow(UnsupportedFunctionalityError);
  expect(refused).toThrow(expect.objectContaining({ functionality }));
});
