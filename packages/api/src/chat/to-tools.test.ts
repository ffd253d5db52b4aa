import { chatCompletionRequest } from '@ortler/schemas';
import { expect, it } from 'vitest';
import { toTools, withToolChoice } from './to-tools.ts';

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'weather', parameters, strict: true } }];
const named = { type: 'function', function: { name: 'weather' } };
const read = (fields: object) => chatCompletionRequest.parse({ messages: [{ role: 'user' }], ...fields });

it.each([
  [false, { tools }, 'none'],
  [false, { tools, tool_choice: 'none' }, 'none'],
  [true, { tools }, 'auto'],
  [true, { tools, tool_choice: 'none' }, 'none'],
  [true, { tools, tool_choice: 'required' }, 'required'],
  [true, { tools, tool_choice: named }, named],
  [true, {}, 'none'],
  [true, { tool_choice: 'auto' }, 'none'],
])('with tool calling %s, %j means %j', (toolCalling, fields, choice) => {
  expect(withToolChoice(read(fields), toolCalling).tool_choice).toEqual(choice);
});

it.each(['auto', 'required', named])('refuses %j without tool calling and names the switch', tool_choice => {
  expect(() => withToolChoice(read({ tools, tool_choice }), false)).toThrow(
    expect.objectContaining({
      reason: 'malformed_request',
      param: 'tool_choice',
      message: expect.stringContaining('--tool-calling on'),
    }),
  );
});

it.each(['required', named])('refuses %j without tools', tool_choice => {
  expect(() => withToolChoice(read({ tool_choice }), true)).toThrow(
    expect.objectContaining({ reason: 'invalid_parameter', param: 'tool_choice' }),
  );
});

it('gives the engine definitions, choice and whether there may be several calls', () => {
  const request = read({ tools, tool_choice: named, parallel_tool_calls: false });
  expect(toTools(request)).toEqual({
    definitions: [{ name: 'weather', parameters, strict: true }],
    choice: { name: 'weather' },
    parallel: false,
  });
});

it('gives the engine none where the model must not call', () => {
  expect(toTools(read({ tools, tool_choice: 'none' }))).toBeNull();
  expect(toTools(read({ tool_choice: 'auto' }))).toBeNull();
});
