import { describe, expect, it } from 'vitest';
import { tokenizeTemplate } from './lexer.ts';

const textsOf = (template: string) =>
  tokenizeTemplate(template).map(({ kind, text }) => `${kind} ${text}`.trim());
const dataOf = (template: string) =>
  tokenizeTemplate(template)
    .filter(({ kind }) => kind === 'data')
    .map(({ text }) => text);

describe('the lexer', () => {
  it('splits text, tags and the tokens inside them', () => {
    expect(textsOf('a {{ b.c }}{% set d = 1.5 %}')).toEqual([
      'data a',
      'variable-begin {{',
      'name b',
      'operator .',
      'name c',
      'variable-end }}',
      'block-begin {%',
      'name set',
      'name d',
      'operator =',
      'float 1.5',
      'block-end %}',
      'end',
    ]);
  });

  it.each([
    ['drops the newline after a block', '{% a %}\nx', ['x']],
    ['keeps it with a plus', '{% a +%}\nx', ['\nx']],
    ['keeps the newline after a variable', '{{ a }}\nx', ['\nx']],
    ['drops blanks between the start of the line and a block', 'x\n  {% a %}', ['x\n']],
    ['keeps blanks after text', 'x  {% a %}', ['x  ']],
    ['drops white space on the side of a minus', 'x \n {%- a -%} \n y', ['x', 'y']],
    ['drops comments with their newline', 'x{# y #}\nz', ['x', 'z']],
    ['drops the last newline of the template', 'x\n', ['x']],
    ['takes raw text as it is', '{% raw %}{{ a }}{% endraw %}', ['{{ a }}']],
  ])('%s', (_, template, data) => {
    expect(dataOf(template)).toEqual(data);
  });

  it('counts lines, whatever ends them', () => {
    const lines = tokenizeTemplate('a\r\nb\r{{ c }}\n\n{{ d }}')
      .filter(({ kind }) => kind === 'name')
      .map(({ line }) => line);
    expect(lines).toEqual([3, 5]);
  });

  it('lets a closing brace inside brackets be part of the expression', () => {
    expect(textsOf('{{ {1: {}}}}').at(-2)).toBe('variable-end }}');
  });

  it.each([
    ['\n{{ a', 2, /expected }}/],
    ['\n\n{# a', 3, /end of comment/],
    ['{% raw %}\n', 1, /end of raw/],
    ['\n{{ a ) }}', 2, /Unexpected "\)"/],
    ['{{\n\n? }}', 3, /Unexpected character "\?"/],
  ])('refuses %j and names line %i', (template, line, message) => {
    expect(() => tokenizeTemplate(template)).toThrow(
      expect.objectContaining({ name: 'TemplateError', line, message: expect.stringMatching(message) }),
    );
  });
});
