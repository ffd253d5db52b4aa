import { expect, it } from 'vitest';
import { EXAMPLE_TOOLS } from '../test/example-tools.ts';
import { readCalls } from '../test/read-calls.ts';
import { chooseDialect } from './dialects/choose-dialect.ts';
import { readResponseTemplate } from './response-template.ts';

const transform = {
  type: 'function',
  function: { name: '{content.name}', arguments: '{content.parameters}' },
};
const asTemplate = (field: object) => ({
  version: 1,
  start_anchor: '<a>',
  fields: { content: {}, tool_calls: { content: 'json', ...field } },
});

it('gives the marks around JSON, and the keys of its values', () => {
  const dialect = readResponseTemplate(
    asTemplate({ open: ['<call>', '<CALL>'], close: '</call>', repeats: true, transform }),
  );
  const text =
    '<call>{"name": "ping", "parameters": {}}</call><call>{"name": "ping", "parameters": {"a":1}}</call>';
  const { text: rest, calls } = readCalls(dialect!, EXAMPLE_TOOLS, [text]);
  expect(rest).toBe('');
  expect(calls.map(call => call.arguments)).toEqual(['{}', '{"a":1}']);
});

it('gives lists of calls', () => {
  const dialect = readResponseTemplate(
    asTemplate({
      open: '[CALLS]',
      transform: { function: { name: '{name}', arguments: '{arguments}' } },
      transform_each: true,
    }),
  );
  const text = '[CALLS][{"name": "ping", "arguments": {}}, {"name": "ping", "arguments": {}}]';
  expect(readCalls(dialect!, EXAMPLE_TOOLS, [text]).calls).toHaveLength(2);
});

it.each([
  [undefined],
  [{}],
  [{ ...asTemplate({ open: '<a>' }), version: 2 }],
  [asTemplate({ open_pattern: '<(?P<name>\\w+)>', transform })],
  [asTemplate({ open: '<a>', content: 'xml-inline' })],
  [asTemplate({ open: '<a>', content_args: { unquoted_keys: true } })],
  [asTemplate({ open: '<a>', transform: { function: { name: '{content.function.name}' } } })],
])('says nothing of other forms: %j', template => {
  expect(readResponseTemplate(template)).toBeNull();
});

it('is preferred to the marks of the chat template', () => {
  const responseTemplate = asTemplate({ open: '<call>', close: '</call>', transform });
  const template = '{{ tools }} <tool_call>';
  expect(chooseDialect({ template, responseTemplate })?.trigger).toBe('<call>');
  expect(chooseDialect({ template })?.trigger).toBe('<tool_call>');
});
