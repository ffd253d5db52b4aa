import { describe, expect, it } from 'vitest';
import type { ToolDialectOption } from '../../request/tool-dialect-option.ts';
import { ChatTemplates } from '../chat-template.ts';
import { ToolDialects } from './tool-dialects.ts';

/** A template that writes calls between these texts. */
const writing = (open: string, close: string) =>
  `{{ tools }}{% for m in messages %}<${'{{ m.role }}'}>{{ m.content }}{% for c in m.tool_calls or [] %}${open}{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}${close}{% endfor %}<end>{% endfor %}`;

function choose(
  template: string,
  { option = 'auto', isOwn = true }: { option?: ToolDialectOption; isOwn?: boolean } = {},
) {
  const templates = new ChatTemplates({}, new Map([['default', template]]));
  const dialects = new ToolDialects({ option, templates, responseTemplate: undefined });
  const chosen = dialects.choose({ source: template, isOwn });
  expect(dialects.choose({ source: template, isOwn })).toBe(chosen);
  return { trigger: chosen.dialect.trigger, isWritten: chosen.isWritten };
}

describe('the dialect of a chat template', () => {
  it('is the one in which it writes calls', () => {
    expect(choose(writing('<my_call>', '</my_call>'))).toEqual({ trigger: '<my_call>', isWritten: false });
    expect(choose(writing('<tool_call>\n', '\n</tool_call>'))).toEqual({
      trigger: '<tool_call>',
      isWritten: false,
    });
  });

  it('is that of its marks where it cannot be asked', () => {
    const source = writing('[TOOL_CALLS]', '[ARGS]');
    expect(choose(source, { isOwn: false })).toEqual({ trigger: '[TOOL_CALLS]', isWritten: false });
    expect(choose('{{ tools }} <tool_call> {{ raise_exception("no") }}')).toMatchObject({
      trigger: '<tool_call>',
    });
  });

  it('is generic, and in the messages, where the template knows no tools or no calls', () => {
    const generic = { trigger: '<tool_call>', isWritten: true };
    expect(choose('{{ messages[0].content }}')).toEqual(generic);
    expect(choose('{{ tools }}{{ messages[0].content }}')).toEqual(generic);
    expect(choose(writing('<my_call>', ''), { option: 'generic' })).toEqual(generic);
  });

  it('is that of the marks of its tools where the template shows tools and no calls, which are written', () => {
    const silent = '{{ tools }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}';
    const chosen = (template: string, option: ToolDialectOption = 'auto') => {
      const templates = new ChatTemplates({}, new Map([['default', template]]));
      const { dialect, isWritten, writesCalls } = new ToolDialects({
        option,
        templates,
        responseTemplate: undefined,
      }).choose({ source: template, isOwn: true });
      return [dialect.name, isWritten, writesCalls];
    };
    expect(chosen(`{{ "List of tools: [" }}${silent}`)).toEqual(['lfm2', false, true]);
    expect(chosen(silent, 'granite')).toEqual(['granite', false, true]);
    expect(chosen(writing('<tool_call>\n', '\n</tool_call>'))).toEqual(['hermes', false, false]);
    expect(chosen(silent)).toEqual(['hermes', true, false]);
  });

  it('is the one that was set', () => {
    expect(choose(writing('<my_call>', ''), { option: 'kimi-k2' })).toEqual({
      trigger: '<|tool_calls_section_begin|>',
      isWritten: false,
    });
    expect(choose('{{ messages }}', { option: 'hermes' })).toEqual({
      trigger: '<tool_call>',
      isWritten: true,
    });
  });

  it('is that of its marks, after a bounded time, where the template loops', () => {
    const loop =
      '{% set r = range(9999) %}{% for a in r %}{% for b in r %}{% for c in r %}{% endfor %}{% endfor %}{% endfor %}';
    const template = `{{ tools }}<tool_call>${loop}`;
    const templates = new ChatTemplates({}, new Map([['default', template]]));
    const dialects = new ToolDialects({ option: 'auto', templates, responseTemplate: undefined });
    const startedAtMs = performance.now();
    // Asked several times, because a busy machine may be the reason; then no more.
    for (let i = 0; i < 20; i++)
      expect(dialects.choose({ source: template, isOwn: true }).dialect.trigger).toBe('<tool_call>');
    expect(performance.now() - startedAtMs).toBeLessThan(4_000);
  });
});
