// Templates that count their calls, or write marks before a text that calls do not have.

import { Template } from '@ortler/jinja';
import { expect, it } from 'vitest';
import { readCalls } from '../../test/read-calls.ts';
import { chooseDialect } from '../dialects/choose-dialect.ts';
import type { ToolDialect } from '../tool-dialect.ts';

const TOOLS = ['look', 'save'].map(name => ({
  name,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  isStrict: false,
}));

/** A template whose assistant writes `calls` in place of its text. */
const templateOf = (calls: string, text = '{{ message.content }}') =>
  [
    '{%- if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif -%}',
    '{%- for message in messages -%}<|{{ message.role }}|>',
    `{%- if message.tool_calls -%}${calls}{%- else -%}${text}{%- endif -%}<|end|>{%- endfor -%}`,
  ].join('');

const each = (call: string) =>
  `{%- for call in message.tool_calls -%}{%- set fn = call.function -%}${call}{%- endfor -%}`;

function render(source: string, messages: readonly object[]): string {
  return new Template(source).render({ messages, tools: TOOLS });
}

function dialectOf(source: string): ToolDialect | null {
  return chooseDialect({ template: source, render: messages => render(source, messages) });
}

/** The names and arguments that are read in what the template renders for calls of these cities. */
function readBack(source: string, cities: readonly string[]): readonly unknown[] {
  const tool_calls = cities.map((city, index) => ({
    id: `abcdefgh${index}`,
    type: 'function',
    function: { name: TOOLS[index % 2]!.name, arguments: { city } },
  }));
  const text = render(source, [{ role: 'assistant', content: '', tool_calls }]).split('<|assistant|>')[1]!;
  const { calls } = readCalls(dialectOf(source)!, TOOLS, [text]);
  return calls.map(({ id, name, arguments: json }) => [id, name, JSON.parse(json)]);
}

const KIMI = templateOf(
  `<|tool_calls_section_begin|>${each(
    "<|tool_call_begin|>{{ 'functions.' + fn.name + ':' + loop.index0 | string }}<|tool_call_argument_begin|>{{ fn.arguments | tojson }}<|tool_call_end|>",
  )}<|tool_calls_section_end|>`,
);

it('a template that numbers the calls of Kimi K2 by itself has their ids', () => {
  expect(readBack(KIMI, ['Rome', 'Bern', 'Oslo'])).toEqual([
    ['functions.look:0', 'look', { city: 'Rome' }],
    ['functions.save:1', 'save', { city: 'Bern' }],
    ['functions.look:2', 'look', { city: 'Oslo' }],
  ]);
});

const COMMAND = templateOf(
  `{{ '<|START_ACTION|>[\\n    ' }}${each(
    '{% if not loop.first %}{{ ",\\n    " }}{% endif %}{"tool_call_id": "{{ loop.index0 }}", "tool_name": "{{ fn.name }}", "parameters": {{ fn.arguments | tojson }}}',
  )}{{ "\\n]" }}<|END_ACTION|>`,
  '<|START_RESPONSE|>{{ message.content }}<|END_RESPONSE|>',
);

it('calls of Command R7B have their own dialect, not that of Llama 3', () => {
  expect(dialectOf(COMMAND)!.name).toBe('cohere');
  expect(readBack(COMMAND, ['Rome', 'Bern', 'Oslo'])).toEqual([
    [expect.any(String), 'look', { city: 'Rome' }],
    [expect.any(String), 'save', { city: 'Bern' }],
    [expect.any(String), 'look', { city: 'Oslo' }],
  ]);
});

it('marks of reasoning before a text hide no calls', () => {
  const source = templateOf(
    `<TOOLCALL>[${each('{% if not loop.first %}, {% endif %}{"name": "{{ fn.name }}", "arguments": {{ fn.arguments | tojson }}}')}]</TOOLCALL>`,
    '<think>\n{{ message.content }}',
  );
  expect(dialectOf(source)!.trigger).toBe('<TOOLCALL>');
  expect(readBack(source, ['Rome', 'Bern'])).toHaveLength(2);
});

it('an empty answer after calls, and the end of a text before them, are not part of a call', () => {
  const calls = each(
    '{% if loop.first %}<|calls|>{% endif %}<|call|>{{ fn.name }}<|args|>{{ fn.arguments | tojson }}',
  );
  const empty = templateOf(`${calls}<|over|><|end|><|assistant|>{{ message.content }}`);
  expect(dialectOf(empty)!.section).toEqual({ open: '<|calls|>', close: '<|over|>' });
  const ended = templateOf(each('<|end|><|call|>{{ fn.name }}<|args|>{{ fn.arguments | tojson }}'));
  expect(dialectOf(ended)!.call[0]).toEqual({ text: '<|end|><|call|>' });
});

it('marks that distinguish strings from other values, and marks around strings with `<`, are found', () => {
  const value = "{% if '<' in value | string %}<raw>{{ value }}</raw>{% else %}{{ value }}{% endif %}";
  const source = templateOf(
    each(
      `<call={{ fn.name }}>{% for key, value in fn.arguments | items %}<key={{ key }} {{ 'text' if value is string else 'json' }}>${value}</key>{% endfor %}</call>`,
    ),
  );
  expect(dialectOf(source)!.arguments).toEqual({
    kind: 'tagged',
    open: '<key=',
    nameEnd: ' text>',
    jsonNameEnd: ' json>',
    wrap: { open: '<raw>', close: '</raw>' },
    close: '</key>',
  });
  expect(readBack(source, ['Rome', 'a<b'])).toEqual([
    [expect.any(String), 'look', { city: 'Rome' }],
    [expect.any(String), 'save', { city: 'a<b' }],
  ]);
});

it('a number of unknown calls that rendering cannot follow allows one call', () => {
  const source = templateOf(
    each('<|call|>{{ fn.name }}<|number-{{ loop.index }}|>{{ fn.arguments | tojson }}<|done|>'),
  );
  expect(dialectOf(source)!.isSingle).toBe(true);
  expect(readBack(source, ['Rome'])).toHaveLength(1);
});
