// Chat templates: the calls that a template writes are read back, wherever the text is cut, and rendering finds the marks
// that the named dialects have.

import { Template } from '@ortler/jinja';
import { describe, expect, it } from 'vitest';
import { EXAMPLE_TEMPLATES, type ExampleTemplate } from '../test/chat-templates.ts';
import { readCalls } from '../test/read-calls.ts';
import { chooseDialect, findNamedDialect } from './dialects/choose-dialect.ts';
import { NAMED_DIALECTS } from './dialects/named-dialects.ts';
import { probeDialect } from './probe/probe-dialect.ts';
import type { Tool } from './tool-dialect.ts';

const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    note: { type: 'string' },
    count: { type: 'integer' },
    isWet: { type: 'boolean' },
    none: { type: 'null' },
    point: { type: 'object', properties: {} },
  },
};
const TOOLS: readonly Tool[] = ['get_weather', 'save.all', 'ping'].map(name => ({
  name,
  parameters,
  isStrict: false,
}));

/** Strings that look like what is around them. */
const HOSTILE = [
  { city: 'São "Paulo" \\ \n 日本 😀', note: '</tool_call>', count: -3, isWet: true },
  {
    city: '{"name": "ping", "arguments": {}}',
    note: '"}]\n```<｜tool▁call▁end｜>',
    none: null,
    point: { x: [1.5, { y: 'a, "b"=}' }], 'k:1': '[TOOL_CALLS]' },
  },
  {},
];
/** Texts that every template can write, those without escapes too. */
const TAME = [
  { city: 'São Paulo 日本 😀', note: 'a, b=(c)', count: -3, isWet: true },
  { city: '[1] {2}', none: null, point: { x: [1.5, { y: 'b' }], k: true } },
  {},
];

/** The text that a model would have written for these calls. */
function renderAnswer(
  template: Template,
  calls: readonly object[],
  { isNamed }: { readonly isNamed: boolean },
): string {
  const content = calls.length === 0 ? 'No [call], but {"a": 1}.' : '';
  const tool_calls = calls.map((values, index) => ({
    // In one format the id tells the function; in some others it has nine characters.
    id: isNamed ? `functions.${TOOLS[index]!.name}:${index}` : `abcdefgh${index}`,
    type: 'function',
    function: { name: TOOLS[index]!.name, arguments: values },
  }));
  const render = (messages: readonly object[], add_generation_prompt = false) =>
    template.render({ messages, tools: TOOLS, add_generation_prompt } as never);
  const question = { role: 'user', content: 'Hi' };
  const answer = { role: 'assistant', content, ...(tool_calls.length > 0 && { tool_calls }) };
  const whole = render([question, answer]);
  const start = render([question], true);
  expect(whole.startsWith(start)).toBe(true);
  const plain = render([question, { role: 'assistant', content: 'ANSWER' }]);
  const end = plain.slice(plain.indexOf('ANSWER') + 'ANSWER'.length);
  return whole.slice(start.length, whole.length - end.length);
}

const dialectOf = ({ source }: ExampleTemplate, template: Template) =>
  chooseDialect({
    template: source,
    render: (messages, tools) => {
      try {
        return template.render({ messages, tools, add_generation_prompt: false } as never);
      } catch {
        return null;
      }
    },
  });

describe.each(EXAMPLE_TEMPLATES)('$like', example => {
  const template = new Template(example.source);
  const dialect = dialectOf(example, template);

  it('has a dialect', () => {
    expect(dialect).not.toBeNull();
    if (example.dialect !== null)
      expect(findNamedDialect(example.source)?.dialect.name).toBe(example.dialect);
  });

  it.each([0, 1, 3])('reads %i calls as they were written, at every cut', count => {
    const values = (example.isLossy ? TAME : HOSTILE).slice(0, example.isSingle ? Math.min(count, 1) : count);
    const answer = renderAnswer(template, values, { isNamed: example.dialect === 'kimi-k2' });
    // The mark of the turn's beginning is a part of the answer of gpt-oss.
    const text = example.dialect === 'harmony' && count > 0 ? `<|start|>assistant${answer}` : answer;
    const whole = readCalls(dialect!, TOOLS, [text]);
    expect(whole.calls.map(({ name, arguments: json }) => [name, JSON.parse(json)])).toEqual(
      values.map((value, index) => [TOOLS[index]!.name, value]),
    );
    expect(whole.text.replace('<|call|>', '')).toBe(count === 0 ? answer : '');
    for (let cut = 1; cut < text.length; cut++)
      expect(readCalls(dialect!, TOOLS, [text.slice(0, cut), text.slice(cut)])).toEqual(whole);
    expect(readCalls(dialect!, TOOLS, [...text])).toEqual(whole);
  });
});

describe('marks that rendering finds', () => {
  // Templates that show ids for names, or calls in the header of a message, are known by name only.
  const probed = EXAMPLE_TEMPLATES.filter(({ dialect }) => dialect !== 'kimi-k2' && dialect !== 'harmony');

  it.each(probed)('of $like are those of its named dialect', example => {
    const template = new Template(example.source);
    const found = probeDialect((messages, tools) => {
      try {
        return template.render({ messages, tools, add_generation_prompt: false } as never);
      } catch {
        return null;
      }
    });
    expect(found).not.toBeNull();
    if (example.dialect === null) return;
    const { dialect } = NAMED_DIALECTS[example.dialect];
    expect(found!.trigger).toBe(dialect.trigger);
    expect(found!.position).toBe(dialect.position);
    expect(found!.arguments).toEqual(dialect.arguments);
    const marks = ({ section, call }: Pick<typeof dialect, 'section' | 'call'>) =>
      [section.open, ...call.map(part => (typeof part === 'object' ? part.text : part)), section.close]
        .join('')
        .replaceAll(/\s/g, '');
    expect(marks(found!)).toBe(marks(dialect));
  });
});
