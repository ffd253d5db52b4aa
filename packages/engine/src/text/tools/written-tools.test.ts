import { expect, it } from 'vitest';
import { writeTools } from './written-tools.ts';

const FUNCTIONS = [
  { type: 'function', function: { name: 'clock', parameters: { maximum: 12345678901234567890n } } },
];
const LINE = '{"type":"function","function":{"name":"clock","parameters":{"maximum":12345678901234567890}}}';

it('describes the functions after the instructions, or before the first question', () => {
  const system = { role: 'system', content: 'Be brief.' };
  const user = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };
  const [instructions, question] = writeTools([system, user], FUNCTIONS);
  expect(instructions!.content).toMatch(/^Be brief\.\n\nYou can call functions/);
  expect(instructions!.content).toContain(`<tools>\n${LINE}\n</tools>`);
  expect(question).toEqual(user);
  expect(writeTools([user], FUNCTIONS)[0]!.content).toMatch(/<\/tool_call>\n\nHi$/);
  const started = writeTools([{ role: 'assistant', content: 'Hi' }], FUNCTIONS);
  expect(started.map(({ role }) => role)).toEqual(['user', 'assistant']);
});

it('writes past calls as the model writes them, and results in a row as one message', () => {
  const calls = ['a', 'b'].map(id => ({ id, function: { name: 'clock', arguments: { zone: id } } }));
  const [, answer, results, next] = writeTools(
    [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'I look.', tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: 'noon' },
      { role: 'tool', tool_call_id: 'b', content: 'one' },
      { role: 'user', content: 'And?' },
    ],
    FUNCTIONS,
  );
  const call = (zone: string) =>
    `<tool_call>\n{"name": "clock", "arguments": {"zone":"${zone}"}}\n</tool_call>`;
  expect(answer).toEqual({ role: 'assistant', content: `I look.\n${call('a')}\n${call('b')}` });
  const result = (text: string) => `<tool_response>\n${text}\n</tool_response>`;
  expect(results).toEqual({ role: 'user', content: `${result('noon')}\n\n${result('one')}` });
  expect(next).toEqual({ role: 'user', content: 'And?' });
});
