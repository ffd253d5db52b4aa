import { describe, expect, it } from 'vitest';
import { Template, type TemplateVariables } from './template.ts';
import { TemplateError, TemplateLimitError } from './template-error.ts';

const BIG = 2n ** 63n - 1n;

const INTEGERS = { big: BIG, small: 5n, bounds: { maximum: BIG, ids: [BIG] } };

function render(source: string, variables: TemplateVariables = INTEGERS): string {
  return new Template(source).render(variables, new Date(0));
}

// As Python prints them: tool schemas and ids often hold integers that a JavaScript number cannot.
describe('integers beyond ±(2^53 - 1)', () => {
  it.each([
    ['{{ big }}', '9223372036854775807'],
    ['{{ bounds }}', "{'maximum': 9223372036854775807, 'ids': [9223372036854775807]}"],
    ['{{ bounds | tojson }}', '{"maximum": 9223372036854775807, "ids": [9223372036854775807]}'],
    ['{{ {big: 1} | tojson }}', '{"9223372036854775807": 1}'],
    ['{{ big is integer }} {{ big is number }} {{ big is string }}', 'True True False'],
    ['{{ big == bounds.maximum }} {{ big == 5 }} {{ 5 == big }}', 'True False False'],
    ['{{ big > 5 }} {{ 5.5 < big }} {{ big <= big }}', 'True True True'],
    ['{{ "yes" if big else "no" }}', 'yes'],
    ['{{ small + 1 }}', '6'],
  ])('%s', (source, text) => {
    expect(render(source)).toBe(text);
  });

  it.each(['{{ big + 1 }}', '{{ -big }}', '{{ big * 2 }}', '{{ big | float }}', '{{ "a" * big }}'])(
    '%s is refused, because the result would be rounded',
    source => {
      expect(() => render(source)).toThrow(TemplateError);
      expect(() => render(source)).toThrow(/9223372036854775807 is too large to calculate with/);
    },
  );
});

it('a Number object is a float, whole or not', () => {
  const variables = { whole: Object(20), list: [Object(-0), 20, Object(0.5)] };
  expect(render('{{ whole }} {{ list | tojson }} {{ whole is float }} {{ whole == 20 }}', variables)).toBe(
    '20.0 [-0.0, 20, 0.5] True True',
  );
});

// As in Python: a key whose value is None is there. Tools without a description have such a key.
it.each([
  ['{{ tool.description is defined }} {{ tool.description }}', 'True None'],
  ['{{ tool.missing is defined }}|{{ tool.missing }}', 'False|'],
  [
    "{{ tool.get('description', 'no') }} {{ tool.get('missing', 'no') }} {{ tool.get('missing') }}",
    'None no None',
  ],
  ["{{ [tool] | map(attribute='description') | list }}", '[None]'],
  ["{{ [tool] | selectattr('description', 'defined') | list | length }}", '1'],
  ["{% set ns = namespace(a=none) %}{{ ns['a'] is defined }} {{ ns.a is defined }}", 'True True'],
  ['{{ missing | default(default_value=none) }} {{ missing | default(none) }}', 'None None'],
  ["{{ 'x' | int(default=none) }} {{ 'x' | float(none) }}", 'None None'],
  ["{{ 'ab' | join(none) }}", 'aNoneb'],
])('None is a value: %s', (source, text) => {
  expect(render(source, { tool: { description: null } })).toBe(text);
});

// A request's integers come as integers of any size: such a number was written with a fraction or an exponent.
it.each([
  [1e20, '1e+20'],
  [-1.5e300, '-1.5e+300'],
  [2 ** 53, '9007199254740992.0'],
  [2 ** 53 - 1, '9007199254740991'],
])('the number %d is written as %s', (value, text) => {
  expect(render('{{ value }} {{ value | tojson }}', { value })).toBe(`${text} ${text}`);
});

// As Python: the remainder is exact and has the sign of the divisor, also where it is zero.
it.each([
  ['-0.5 % 0.1', '2.7755575615628914e-17'],
  ['5.5 % -2', '-0.5'],
  ['1.0 % -0.5', '-0.0'],
  ['1.0 // 0.1', '9.0'],
  ['-7 // 2', '-4'],
  ['-7 % 3', '2'],
  ['6 % -3', '0'],
])('{{ %s }} is %s', (expression, text) => {
  expect(render(`{{ ${expression} }}`)).toBe(text);
});

// A list of one entry for each place of a long text ends the process, not only the thread, when it meets the memory limit.
it.each([
  "('-a' * 300000) | title",
  "('a ' * 300000).title()",
  "('%%' * 300000) % ()",
  "('{{' * 300000).format()",
  "strftime_now('%%' * 300000)",
  "('\\n' * 600000) | indent",
  "('\\n' * 600000).splitlines()",
  "('é' * 600000) | tojson(ensure_ascii=true)",
  "(['x' * 1000000] * 15) | map('upper') | list",
  "(['X' * 1000000] * 15) | sort",
])('charges for what is made of the places of a long text before it is made: %s', expression => {
  // Most of what a run may make is gone before.
  const source = `{% set used = 'x' * 60000000 %}{{ (${expression}) | length }}`;
  expect(() => render(source, {})).toThrow('The template needs too much memory.');
});

it('counts the words of a text of any length', () => {
  expect(render("{{ ('two words ' * 100000) | wordcount }}", {})).toBe('200000');
});

// What Python jinja2 3.1.6 renders, with x = a<"'&b and lines that end in Python's ways.
it.each([
  ["{{ '<b>' | safe + x }}", '<b>a&lt;&#34;&#39;&amp;b'],
  ["{{ x + '<b>' | safe }}", 'a&lt;&#34;&#39;&amp;b<b>'],
  ["{{ '<' | safe + x | tojson }}", '<&#34;a&lt;\\&#34;&#39;&amp;b&#34;'],
  ["{% set y = '<' | safe %}{{ y + x + '&' }}", '<a&lt;&#34;&#39;&amp;b&amp;'],
  ["{% with y = '<' | safe %}{{ y + x }}{% endwith %}", '<a&lt;&#34;&#39;&amp;b'],
  [
    "{{ ('<' | safe if x else 1) + x }} {{ (false or '<' | safe) + x }}",
    '<a&lt;&#34;&#39;&amp;b <a&lt;&#34;&#39;&amp;b',
  ],
  ["{{ '<' | safe ~ x }} {{ ['<' | safe, x] | join('&') }}", '<a<"\'&b <&a<"\'&b'],
  ["{{ ('<' | safe + x) | length }} {{ '<' | safe == '<' }}", '22 True'],
  ['{{ lines | indent(2) }}', 'a\n  b\n  c\n  d\n\n  e\n'],
  ['{{ lines | indent(2, true, true) }}', '  a\n  b\n  c\n  d\n  \n  e\n  '],
  ['{{ nothing is callable }} {{ x is callable }}', 'True False'],
  ["{{ '\x7f~é' | tojson(ensure_ascii=true) }}", '"\\u007f~\\u00e9"'],
])('%s', (source, text) => {
  expect(render(source, { x: 'a<"\'&b', lines: 'a\r\nb\u000bc\u2028d\n\ne\n' })).toBe(text);
});

// What Python jinja2 3.1.6 renders.
it.each([
  ['{% for i in [1, 2] %}{{ i }}{% continue %}{% else %}E{% endfor %}', '12E'],
  ['{% for i in [1, 2] %}{{ i }}{% break %}{% else %}E{% endfor %}', '1E'],
  ['{% for i in [1, 2] %}{{ i }}{% if i == 2 %}{% break %}{% endif %}{% else %}E{% endfor %}', '12'],
  ['{% for i in [1, 2] %}{{ i }}{% if i == 1 %}{% continue %}{% endif %}{% else %}E{% endfor %}', '12'],
])('the else of a loop is for one of which no turn came to its end: %s', (source, text) => {
  expect(render(source)).toBe(text);
});

describe('a run that exceeds its limits', () => {
  const range = (body: string) => `{% for i in range(99999) %}${body}{% endfor %}`;
  // Lists of lists with exponentially many items.
  const twice = '{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, ns.m] %}';
  const lists = `{% set ns = namespace(l=[], m=[]) %}{% for i in range(60) %}${twice}{% endfor %}`;

  it.each([
    ['loops', range(range(''))],
    ['calls', `{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(99) }}`],
    ['comparisons', `${lists}{{ ns.l == ns.m }}`],
    ['members', `${lists}{{ ns.l in [ns.m] }}`],
    ['orders', `${lists}{{ ns.l < ns.m }}`],
    ['unique items', `${lists}{{ [(ns.l,), (ns.m,)] | unique | list | length }}`],
    ['filters', range("{{ range(9999) | map('abs') | select('odd') | list | length }}")],
  ])('ends with an error of its own: %s', (_, source) => {
    expect(() => new Template(source).render({}, new Date(0), { timeMs: 20 })).toThrow(TemplateLimitError);
  });

  it('may have less memory than usual', () => {
    const template = new Template("{{ ('x' * 1000) | length }}");
    expect(template.render({})).toBe('1000');
    expect(() => template.render({}, new Date(0), { memory: 500 })).toThrow(TemplateLimitError);
    // The next run has limits of its own.
    expect(template.render({})).toBe('1000');
  });
});
