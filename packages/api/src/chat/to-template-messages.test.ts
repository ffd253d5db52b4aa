import { chatMessage } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { toTemplateMessages } from './to-template-messages.ts';

const normalise = (message: unknown) => toTemplateMessages([chatMessage.parse(message)])[0];

const call = (text: string) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: text } });

it('gives text parts of every kind to the engine as text', () => {
  const content = [
    'a',
    { type: 'text', text: 'b' },
    { type: 'input_text', text: 'c' },
    { type: 'output_text', text: 'd' },
    { type: 'refusal', refusal: 'e' },
    { type: 'thinking', thinking: 'f' },
  ];
  const parts = [...'abcdef'].map(text => ({ type: 'text', text }));
  expect(normalise({ role: 'user', content })).toEqual({ role: 'user', content: parts });
});

it('reads missing and null content as empty text', () => {
  expect(normalise({ role: 'user' })).toEqual({ role: 'user', content: '' });
  expect(normalise({ role: 'user', content: '' })).toEqual({ role: 'user', content: '' });
  expect(normalise({ role: 'assistant', content: null })).toEqual({ role: 'assistant', content: '' });
});

it('passes any role, the name and the tool call id through', () => {
  expect(normalise({ role: 'wizard', content: 'x', name: 'm' })).toEqual({
    role: 'wizard',
    content: 'x',
    name: 'm',
  });
  expect(normalise({ role: 'tool', content: 'x', tool_call_id: 'c' })).toMatchObject({ tool_call_id: 'c' });
});

it('parses tool arguments and makes an empty object of broken ones', () => {
  const message = normalise({ role: 'assistant', tool_calls: [call('{"a":1}'), call('not json')] });
  expect(message?.tool_calls).toMatchObject([
    { function: { arguments: { a: 1 } } },
    { function: { arguments: {} } },
  ]);
});

it('keeps every digit of integers in tool arguments', () => {
  const message = normalise({ role: 'assistant', tool_calls: [call('{"id":12345678901234567890}')] });
  expect(message?.tool_calls).toMatchObject([{ function: { arguments: { id: 12345678901234567890n } } }]);
});

it('tells floats that are whole from integers in tool arguments', () => {
  const message = normalise({ role: 'assistant', tool_calls: [call('{"price":20.0,"count":20}')] });
  expect(message?.tool_calls?.[0]?.function.arguments).toStrictEqual({ price: Object(20), count: 20 });
});

it('takes tool arguments that are nested too deeply for any template as broken', () => {
  const message = normalise({ role: 'assistant', tool_calls: [call('['.repeat(5_000) + ']'.repeat(5_000))] });
  expect(message?.tool_calls).toMatchObject([{ function: { arguments: {} } }]);
});

it('drops an empty list of tool calls', () => {
  expect(normalise({ role: 'assistant', content: 'x', tool_calls: [] })).toEqual({
    role: 'assistant',
    content: 'x',
  });
});

it('takes reasoning under both of its names', () => {
  expect(normalise({ role: 'assistant', reasoning: 'r' })?.reasoning_content).toBe('r');
  expect(normalise({ role: 'assistant', reasoning_content: 'r' })?.reasoning_content).toBe('r');
});

it('refuses parts that are not text and names the place', () => {
  const image = { role: 'user', content: ['a', { type: 'image_url', image_url: { url: 'data:' } }] };
  expect(() => normalise(image)).toThrow(
    'messages.0.content.1: this model reads text only; got a part of type image_url.',
  );
});
