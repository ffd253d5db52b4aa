// The table of accepted and refused messages, row by row.

import { describe, expect, it } from 'vitest';
import { chatMessage } from './chat-message.ts';

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };

const ACCEPTED: [string, unknown][] = [
  ...['developer', 'system', 'user', 'assistant', 'tool', 'function', 'custom', 'wizard'].map(
    (role): [string, unknown] => [`text from the role ${role}`, { role, content: 'x' }],
  ),
  ['empty text', { role: 'user', content: '' }],
  ['an empty list', { role: 'user', content: [] }],
  ['a list of parts', { role: 'user', content: [{ type: 'text', text: 'a' }] }],
  ['a list of plain texts', { role: 'user', content: ['a', 'b'] }],
  ['texts and parts mixed', { role: 'user', content: ['a', { type: 'text', text: 'b' }] }],
  ['input_text', { role: 'user', content: [{ type: 'input_text', text: 'a' }] }],
  ['output_text', { role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }],
  ['refusal', { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] }],
  ['thinking', { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm' }] }],
  ['image_url', { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }],
  [
    'input_audio',
    { role: 'user', content: [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }] },
  ],
  ['missing content, user', { role: 'user' }],
  ['missing content, tool', { role: 'tool' }],
  ['null content, assistant', { role: 'assistant', content: null }],
  ['null content, function with a name', { role: 'function', content: null, name: 'f' }],
  ['a tool message without tool_call_id', { role: 'tool', content: 'x' }],
  ['a function message without a name', { role: 'function', content: 'x' }],
  ['tool calls', { role: 'assistant', content: null, tool_calls: [call] }],
  ['no tool calls', { role: 'assistant', content: 'x', tool_calls: [] }],
  ['null tool calls', { role: 'assistant', content: 'x', tool_calls: null }],
  ['reasoning', { role: 'assistant', content: 'x', reasoning: 'hm' }],
  ['reasoning under its older name', { role: 'assistant', content: 'x', reasoning_content: 'hm' }],
];

const REFUSED: [string, unknown][] = [
  ['a text', 'hello'],
  ['null', null],
  ['a list', []],
  ['an empty object', {}],
  ['no role', { content: 'x' }],
  ['a role that is not text', { role: 1, content: 'x' }],
  ['null content, user', { role: 'user', content: null }],
  ['null content, system', { role: 'system', content: null }],
  ['null content, developer', { role: 'developer', content: null }],
  ['null content, tool', { role: 'tool', content: null }],
  ['null content, function without a name', { role: 'function', content: null }],
  ['null content, unknown role', { role: 'wizard', content: null }],
  ['content that is a number', { role: 'user', content: 1 }],
  ['content that is an object', { role: 'user', content: { type: 'text', text: 'a' } }],
  ['content that is a boolean', { role: 'user', content: true }],
  ['a text part without text', { role: 'user', content: [{ type: 'text' }] }],
  ['a text part whose text is a number', { role: 'user', content: [{ type: 'text', text: 1 }] }],
  ['a part of unknown type', { role: 'user', content: [{ type: 'foo' }] }],
  ['a part without type', { role: 'user', content: [{ text: 'a' }] }],
  ['a part that is a number', { role: 'user', content: [1] }],
  ['a name that is null', { role: 'user', content: 'x', name: null }],
  ['a name that is a number', { role: 'user', content: 'x', name: 1 }],
  ['a tool call without id', { role: 'assistant', tool_calls: [{ ...call, id: undefined }] }],
  [
    'a tool call whose arguments are an object',
    { role: 'assistant', tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] },
  ],
];

describe('chatMessage', () => {
  it.each(ACCEPTED)('accepts %s', (_what, message) => {
    expect(chatMessage.safeParse(message).success).toBe(true);
  });

  it.each(REFUSED)('refuses %s', (_what, message) => {
    expect(chatMessage.safeParse(message).success).toBe(false);
  });

  it('drops unlisted keys and keeps the listed ones', () => {
    const kept = { role: 'tool', content: 'x', name: 'n', tool_call_id: 'c' };
    expect(chatMessage.parse({ ...kept, refusal: null, weather: 'fine' })).toEqual(kept);
  });

  it('leaves missing content missing, apart from null', () => {
    expect(chatMessage.parse({ role: 'user' })).toEqual({ role: 'user' });
  });
});
