import { type ResponseInputItem, responseRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { toConversation } from './to-conversation.ts';

const itemsOf = (input: unknown) => responseRequest.parse({ input }).input as readonly ResponseInputItem[];
const read = (input: unknown, instructions?: string) => toConversation(instructions, [], itemsOf(input));
const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'weather', arguments: '{}' });
const calls = (...ids: string[]) =>
  ids.map(id => ({ id, type: 'function', function: { name: 'weather', arguments: '{}' } }));
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: '18 degrees' });

it('puts the instructions and the history before the items', () => {
  const said = (content: string) => itemsOf([{ role: 'user', content }]);
  expect(toConversation('Be brief.', said('before'), said('hi'))).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'before' },
    { role: 'user', content: 'hi' },
  ]);
});

it('joins the items of one answer to one message of the assistant', () => {
  const input = [
    { role: 'user', content: 'Weather?' },
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
    { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
    call('a'),
    call('b'),
    output('a'),
    output('b'),
    { role: 'assistant', content: 'Warm.' },
  ];
  expect(read(input)).toEqual([
    { role: 'user', content: 'Weather?' },
    { role: 'assistant', content: 'I look.', reasoning: 'Hm.', tool_calls: calls('a', 'b') },
    { role: 'tool', content: '18 degrees', tool_call_id: 'a' },
    { role: 'tool', content: '18 degrees', tool_call_id: 'b' },
    { role: 'assistant', content: 'Warm.' },
  ]);
});

it('keeps two texts of the assistant, and a text after calls, apart', () => {
  const said = { role: 'assistant', content: 'a' };
  expect(read([said, said])).toHaveLength(2);
  expect(read([call('a'), said])).toEqual([
    { role: 'assistant', content: null, tool_calls: calls('a') },
    said,
  ]);
});

it('takes the summary of reasoning without content', () => {
  expect(read([{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }])).toEqual([
    { role: 'assistant', content: null, reasoning: 'Hm.' },
  ]);
});

it.each([
  [[{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }], 'input.0.content.0'],
  [
    [call('a'), { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_file' }] }],
    'input.1.output.0',
  ],
  [[output('a')], 'input.0'],
  [[call('a'), output('b')], 'input.1'],
  [[output('a'), call('a')], 'input.0'],
])('refuses %j by its place', (input, param) => {
  expect(() => read(input)).toThrow(expect.objectContaining({ reason: 'invalid_parameter', param }));
});

it('finds the call of an output in the history', () => {
  const messages = toConversation(undefined, itemsOf([call('a')]), itemsOf([output('a')]));
  expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool']);
});
