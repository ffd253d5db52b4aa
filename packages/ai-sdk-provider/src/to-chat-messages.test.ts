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

it('gives calls to the template as objects, and each result a message of its own', () => {
  const outputs = [
    { type: 'text', value: 'noon' },
    { type: 'json', value: { hour: 12 } },
    { type: 'error-text', value: 'no clock' },
    { type: 'execution-denied' },
    {
      type: 'content',
      value: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
  ] as const;
  const prompt = [
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { ...call, input: { zone: 'CET' } },
      ],
    },
    { role: 'tool', content: outputs.map(output => ({ ...result, output })) },
  ] as unknown as LanguageModelV4Message[];
  const [answer, ...results] = toChatMessages(prompt);
  expect(answer).toEqual({
    role: 'assistant',
    content: 'I look.',
    tool_calls: [{ id: '1', type: 'function', function: { name: 'clock', arguments: { zone: 'CET' } } }],
  });
  expect(results[0]).toEqual({ role: 'tool', tool_call_id: '1', name: 'clock', content: 'noon' });
  expect(results.map(({ content }) => content)).toEqual([
    'noon',
    '{"hour":12}',
    'no clock',
    'The execution of the tool was denied.',
    'a\nb',
  ]);
});

it.each<[string, LanguageModelV4Message]>([
  ['file parts (image/png)', { role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }],
  ['file parts (image/png)', { role: 'assistant', content: [image] }],
  ['tool calls that a provider runs', { role: 'assistant', content: [{ ...call, providerExecuted: true }] }],
  ['tool results of an assistant', { role: 'assistant', content: [result] }],
  [
    'tool-approval-response parts',
    { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: '1', approved: true }] },
  ],
  [
    'file parts of tool results',
    { role: 'tool', content: [{ ...result, output: { type: 'content', value: [image] } }] },
  ],
  ['custom parts', { role: 'assistant', content: [{ type: 'custom', kind: 'openai.search' }] }],
])('refuses %s by name', (functionality, message) => {
  const refused = () => toChatMessages([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }, message]);
  expect(refused).toThrow(UnsupportedFunctionalityError);
  expect(refused).toThrow(expect.objectContaining({ functionality }));
});
