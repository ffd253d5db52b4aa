import { describe, expect, it } from 'vitest';
import { parseTemplate } from './parser.ts';
import { Template } from './template.ts';

describe('the parser', () => {
  it.each([
    ['\n{% if %}x{% endif %}', 2, /Expected/],
    ['{% if a %}\nx', 2, /end of the template/],
    ['\n\n{% for in b %}{% endfor %}', 3, /./],
    ['\n{% include "x" %}', 2, /include/],
    ['{% for a in b recursive %}{% endfor %}', 1, /Recursive loops are not supported/],
    ['{{ a |\n }}', 2, /a name/],
    ['{{ f(a=1, 2) }}', 1, /./],
    ['{% endif %}', 1, /endif/],
    ['{% set a = %}', 1, /./],
  ])('refuses %j and names line %i', (template, line, message) => {
    expect(() => parseTemplate(template)).toThrow(
      expect.objectContaining({ name: 'TemplateError', line, message: expect.stringMatching(message) }),
    );
  });

  it.each([
    ['{{ 1 + 2 * 3 ** 2 }}', '19'],
    // As jinja2 has it, unlike Python: the sign binds more tightly than the power, `~` more tightly than `+`.
    ['{{ -2 ** 2 }}', '4'],
    ['{{ not a or b }}', 'True'],
    ['{{ 1 < 2 < 3 }} {{ 3 > 2 > 2 }}', 'True False'],
    ['{{ 1 ~ 2 * 3 }}', '16'],
    ['{{ "a" ~ 1 + "b" }}', 'a1b'],
    ['{{ 1 if false else 2 if false else 3 }}', '3'],
    ['{{ [1, 2][-1] | string ~ "x" }}', '2x'],
    ['{{ "a" in "abc" and "z" not in "abc" }}', 'True'],
  ])('reads %s in the order of precedence', (source, text) => {
    expect(new Template(source).render({})).toBe(text);
  });
});
