// Chat templates in the shapes of published ones: how turns begin and end, and how calls are written in them. Written
// for these tests; `like` names models whose templates have the shape.

import type { ToolDialectName } from '../src/dialects/named-dialects.ts';

export interface ExampleTemplate {
  readonly like: string;
  /** The dialect by the marks; null where only rendering finds it. */
  readonly dialect: ToolDialectName | null;
  readonly source: string;
  /** The template takes one call at most. */
  readonly isSingle?: boolean;
  /** The template writes strings without escapes, so that it cannot write every text. */
  readonly isLossy?: boolean;
}

/** How turns are written: before and after the text of a role. */
interface Turns {
  readonly start: (role: string) => string;
  readonly end: string;
}

const CHATML: Turns = { start: role => `<|im_start|>${role}\n`, end: '<|im_end|>\n' };
const LLAMA: Turns = { start: role => `<|start_header_id|>${role}<|end_header_id|>\n\n`, end: '<|eot_id|>' };
const BARS: Turns = { start: role => `<|${role}|>`, end: '<|end|>' };
const GRANITE: Turns = {
  start: role => `<|start_of_role|>${role}<|end_of_role|>`,
  end: '<|end_of_text|>\n',
};
const GEMMA: Turns = { start: role => `<|turn>${role}\n`, end: '<turn|>\n' };
const DEEPSEEK: Turns = {
  start: role => (role === 'assistant' ? '<｜Assistant｜>' : '<｜User｜>'),
  end: '<｜end▁of▁sentence｜>',
};
const MISTRAL: Turns = { start: role => (role === 'assistant' ? '' : '[INST]'), end: '</s>' };
const GLM: Turns = { start: role => `<|${role}|>\n`, end: '' };
const KIMI: Turns = { start: role => `<|im_${role}|>${role}<|im_middle|>`, end: '<|im_end|>' };

/** A text as Jinja writes it. */
const text = (value: string) =>
  value === ''
    ? ''
    : `{{ '${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}' }}`;

/** A template around the part that writes calls; `call` is the function of one call, `loop` that of the calls. */
function template(turns: Turns, calls: string, { before = '', behind = '' } = {}): string {
  const { start, end } = turns;
  return [
    `{%- if tools %}${text(`${start('system')}Tools: `)}{{ tools | tojson }}${text(end)}{% endif -%}`,
    '{%- for message in messages -%}',
    `{%- if message.role == 'assistant' -%}${text(start('assistant'))}`,
    '{{- message.content -}}{%- if message.tool_calls -%}',
    before,
    calls,
    behind,
    `{%- endif -%}${text(end)}`,
    `{%- else -%}${text(start('user'))}{{ message.content }}${text(end)}{%- endif -%}`,
    '{%- endfor -%}',
    `{%- if add_generation_prompt -%}${text(start('assistant'))}{%- endif -%}`,
  ].join('');
}

const each = (body: string, separator = '') =>
  `{%- for tool_call in message.tool_calls -%}{%- set call = tool_call.function -%}${
    separator === '' ? '' : `{%- if not loop.first -%}${text(separator)}{%- endif -%}`
  }${body}{%- endfor -%}`;

/** `{"name": ..., "arguments": ...}` between two texts. */
const object = (open: string, close: string, key = 'arguments') =>
  `${text(`${open}{"name": "`)}{{ call.name }}${text(`", "${key}": `)}{{ call.arguments | tojson }}${text(`}${close}`)}`;

const parts = (...written: readonly string[]) => written.join('');
const NAME = '{{ call.name }}';
const ARGUMENTS = '{{ call.arguments | tojson }}';
const single = (body: string) =>
  `{%- if message.tool_calls | length > 1 -%}{{ raise_exception('One call only.') }}{%- endif -%}${each(body)}`;

const tagged = (open: string, nameEnd: string, close: string) =>
  `{%- for key, value in call.arguments | items -%}${text(open)}{{ key }}${text(nameEnd)}{%- if value is string -%}{{ value }}{%- else -%}{{ value | tojson }}{%- endif -%}${text(close)}{%- endfor -%}`;

const python = `{%- for key, value in call.arguments | items -%}{%- if not loop.first -%}${text(', ')}{%- endif -%}{{ key }}={%- if value is string -%}{{ value | tojson }}{%- else -%}{{ value }}{%- endif -%}{%- endfor -%}`;

const gemma = [
  '{%- macro write(value) -%}',
  `{%- if value is string -%}${text('<|"|>')}{{ value }}${text('<|"|>')}`,
  '{%- elif value is mapping -%}{{ "{" }}{%- for key, item in value | items -%}{%- if not loop.first -%},{%- endif -%}{{ key }}:{{ write(item) }}{%- endfor -%}{{ "}" }}',
  '{%- elif value is iterable and value is not string -%}[{%- for item in value -%}{%- if not loop.first -%},{%- endif -%}{{ write(item) }}{%- endfor -%}]',
  '{%- else -%}{{ value | tojson }}{%- endif -%}',
  '{%- endmacro -%}',
].join('');
const gemmaArguments =
  '{%- for key, value in call.arguments | items -%}{%- if not loop.first -%},{%- endif -%}{{ key }}:{{ write(value) }}{%- endfor -%}';

const HERMES = each(object('<tool_call>\n', '\n</tool_call>'), '\n');
const LIST = each(object('', ''), ', ');
const MISTRAL_LIST = each(
  `${text('{"name": "')}${NAME}${text('", "arguments": ')}${ARGUMENTS}${text(', "id": "')}{%- if tool_call.id | length != 9 -%}{{ raise_exception('Ids have nine characters.') }}{%- endif -%}{{ tool_call.id }}${text('"}')}`,
  ', ',
);
const GLM_45 = each(
  parts(
    text('<tool_call>'),
    NAME,
    text('\n'),
    tagged('<arg_key>', '</arg_key>\n<arg_value>', '</arg_value>\n'),
    text('</tool_call>'),
  ),
  '\n',
);
const GLM_47 = each(
  parts(
    text('<tool_call>'),
    NAME,
    tagged('<arg_key>', '</arg_key><arg_value>', '</arg_value>'),
    text('</tool_call>'),
  ),
);
const QWEN_CODER = each(
  parts(
    text('<tool_call>\n<function='),
    NAME,
    text('>\n'),
    tagged('<parameter=', '>\n', '\n</parameter>\n'),
    text('</function>\n</tool_call>'),
  ),
  '\n',
);
const DSML = (section: string) =>
  parts(
    text(`\n\n<｜DSML｜${section}>\n`),
    each(
      parts(
        text('<｜DSML｜invoke name="'),
        NAME,
        text('">\n'),
        '{%- for key, value in call.arguments | items -%}',
        text('<｜DSML｜parameter name="'),
        '{{ key }}" string="{{ "true" if value is string else "false" }}">',
        '{{- value if value is string else value | tojson -}}',
        text('</｜DSML｜parameter>\n'),
        '{%- endfor -%}',
        text('</｜DSML｜invoke>'),
      ),
      '\n',
    ),
    text(`\n</｜DSML｜${section}>`),
  );
const MINICPM = each(
  parts(
    text('<function name="'),
    NAME,
    text('">'),
    '{%- for key, value in call.arguments | items -%}',
    text('<param name="'),
    '{{ key }}">',
    "{%- if value is string and ('<' in value or '&' in value or '\\n' in value) -%}",
    text('<![CDATA['),
    '{{ value }}',
    text(']]>'),
    '{%- elif value is string -%}{{ value }}{%- else -%}{{ value | tojson }}{%- endif -%}',
    text('</param>'),
    '{%- endfor -%}',
    text('</function>'),
  ),
  '\n',
);
const FUNCTIONARY = `{# <|python_tag|> #}${each(parts(text('<function='), NAME, '>', ARGUMENTS, text('</function>')))}`;
const DEEPSEEK_V3 = each(
  parts(
    text('<｜tool▁call▁begin｜>function<｜tool▁sep｜>'),
    NAME,
    text('\n```json\n'),
    ARGUMENTS,
    text('\n```<｜tool▁call▁end｜>'),
  ),
  '\n',
);
const DEEPSEEK_V31 = each(
  parts(text('<｜tool▁call▁begin｜>'), NAME, text('<｜tool▁sep｜>'), ARGUMENTS, text('<｜tool▁call▁end｜>')),
);
const KIMI_CALLS = each(
  parts(
    text('<|tool_call_begin|>'),
    '{{ tool_call.id }}',
    text('<|tool_call_argument_begin|>'),
    ARGUMENTS,
    text('<|tool_call_end|>'),
  ),
);
const PYTHON_CALLS = each(parts(NAME, '(', python, ')'), ', ');
const HARMONY =
  '{# functions. <|channel|> #}' +
  single(
    parts(
      text(' to=functions.'),
      NAME,
      text('<|channel|>commentary json<|message|>'),
      ARGUMENTS,
      text('<|call|>'),
    ),
  );
const MISTRAL_NAMED = each(parts(text('[TOOL_CALLS]'), NAME, text('[ARGS]'), ARGUMENTS));
const MISTRAL_V11 = each(
  parts(text('[TOOL_CALLS]'), NAME, text('[CALL_ID]'), '{{ tool_call.id }}', text('[ARGS]'), ARGUMENTS),
);
const SECTION = {
  deepseek: { before: text('<｜tool▁calls▁begin｜>'), behind: text('<｜tool▁calls▁end｜>') },
  kimi: { before: text('<|tool_calls_section_begin|>'), behind: text('<|tool_calls_section_end|>') },
  mistral: { before: text('[TOOL_CALLS] ['), behind: text(']') },
  granite: { before: text('<|tool_call|>['), behind: text(']') },
  phi: { before: text('<|tool_call|>['), behind: text(']<|/tool_call|>') },
  lfm: { before: text('<|tool_call_start|>['), behind: text(']<|tool_call_end|>') },
  list: { before: text('['), behind: text(']') },
};

const example = (
  like: string,
  dialect: ToolDialectName | null,
  source: string,
  more: Pick<ExampleTemplate, 'isSingle' | 'isLossy'> = {},
): ExampleTemplate => ({ like, dialect, source, ...more });

/** An assistant turn of gpt-oss ends with its call. */
const HARMONY_TURNS: Turns = { start: role => `<|start|>${role}`, end: '' };

export const EXAMPLE_TEMPLATES: readonly ExampleTemplate[] = [
  example('Qwen2.5', 'hermes', template(CHATML, HERMES)),
  example('Qwen3', 'hermes', template(CHATML, HERMES, { before: text('\n') })),
  example('Hermes 3', 'hermes', template(CHATML, each(object('<tool_call>\n', '\n</tool_call>\n')))),
  example('SmolLM3', 'hermes', template(CHATML, HERMES)),
  example('Granite 4', 'hermes', template(GRANITE, HERMES)),
  example('Hermes on Llama headers', 'hermes', template(LLAMA, HERMES)),
  example('Hermes without line ends', 'hermes', template(BARS, each(object('<tool_call>', '</tool_call>')))),
  example(
    'Jamba',
    null,
    template(BARS, LIST, { before: text('<tool_calls>['), behind: text(']</tool_calls>') }),
  ),
  example(
    'InternLM2',
    null,
    template(CHATML, single(object('<|action_start|><|plugin|>\n', '<|action_end|>', 'parameters')), {}),
    { isSingle: true },
  ),
  example('xLAM', null, template(CHATML, LIST, SECTION.list)),
  example('Llama 3.1', 'llama-3', template(LLAMA, single(object('', '', 'parameters'))), { isSingle: true }),
  example('Llama 3.2', 'llama-3', template(LLAMA, single(object('', '', 'parameters'))), { isSingle: true }),
  example(
    'Llama 4 with brackets',
    'pythonic',
    `{# func_name1( #}${template(LLAMA, PYTHON_CALLS, SECTION.list)}`,
    { isLossy: true },
  ),
  example('ToolACE', 'pythonic', `{# func_name1( #}${template(LLAMA, PYTHON_CALLS, SECTION.list)}`, {
    isLossy: true,
  }),
  example('LFM2', 'lfm2', template(CHATML, PYTHON_CALLS, SECTION.lfm)),
  example(
    'LFM2.5',
    'lfm2',
    template(CHATML, PYTHON_CALLS, { ...SECTION.lfm, before: text('\n<|tool_call_start|>[') }),
  ),
  example('Mistral 7B v0.3', 'mistral-list', template(MISTRAL, MISTRAL_LIST, SECTION.mistral)),
  example(
    'Mistral Nemo',
    'mistral-list',
    template(MISTRAL, MISTRAL_LIST, { ...SECTION.mistral, before: text('[TOOL_CALLS][') }),
  ),
  example('Mistral Small 3.2', 'mistral-v11', template(MISTRAL, MISTRAL_V11)),
  example('Magistral', 'mistral', template(MISTRAL, MISTRAL_NAMED)),
  example('Devstral', 'mistral', template(MISTRAL, MISTRAL_NAMED)),
  example('Ministral 3', 'mistral', template(MISTRAL, MISTRAL_NAMED)),
  example('Qwen3-Coder', 'qwen3-coder', template(CHATML, QWEN_CODER)),
  example('Qwen3.5', 'qwen3-coder', template(CHATML, QWEN_CODER, { before: text('\n\n') })),
  example('Nemotron 3', 'qwen3-coder', template(CHATML, QWEN_CODER)),
  example('GLM 4.5', 'glm-4.5', template(GLM, GLM_45, { before: text('\n') })),
  example('GLM 4.6', 'glm-4.5', template(GLM, GLM_45)),
  example('GLM 4.7', 'glm-4.7', template(GLM, GLM_47)),
  example('DeepSeek V3', 'deepseek-v3', template(DEEPSEEK, DEEPSEEK_V3, SECTION.deepseek)),
  example('DeepSeek R1', 'deepseek-v3', template(DEEPSEEK, DEEPSEEK_V3, SECTION.deepseek)),
  example('DeepSeek V3.1', 'deepseek-v3.1', template(DEEPSEEK, DEEPSEEK_V31, SECTION.deepseek)),
  example('DeepSeek V3.2-Exp', 'deepseek-v3.1', template(DEEPSEEK, DEEPSEEK_V31, SECTION.deepseek)),
  example('DeepSeek V3.2', 'deepseek-v3.2', template(DEEPSEEK, DSML('function_calls'))),
  example('DeepSeek V4', 'deepseek-v4', template(DEEPSEEK, DSML('tool_calls'))),
  example('MiniCPM 5', 'minicpm-5', template(CHATML, MINICPM)),
  example('Functionary 3.1', 'functionary', template(LLAMA, FUNCTIONARY)),
  example('Kimi K2', 'kimi-k2', template(KIMI, KIMI_CALLS, SECTION.kimi)),
  example('Kimi K2 Thinking', 'kimi-k2', template(KIMI, KIMI_CALLS, { ...SECTION.kimi })),
  example('Granite 3.1', 'granite', template(GRANITE, LIST, SECTION.granite)),
  example('Granite 3.3', 'granite', template(GRANITE, LIST, SECTION.granite)),
  example('Phi-4-mini', 'phi-4', template(BARS, LIST, SECTION.phi)),
  example(
    'Gemma 4',
    'gemma-4',
    gemma +
      template(
        GEMMA,
        each(
          parts(
            text('<|tool_call>call:'),
            NAME,
            '{{ "{" }}',
            gemmaArguments,
            '{{ "}" }}',
            text('<tool_call|>'),
          ),
        ),
      ),
    { isLossy: true },
  ),
  example(
    'FunctionGemma',
    null,
    gemma.replaceAll('<|"|>', '<escape>') +
      template(
        GEMMA,
        each(
          parts(
            text('<start_function_call>call:'),
            NAME,
            '{{ "{" }}',
            gemmaArguments,
            '{{ "}" }}',
            text('<end_function_call>'),
          ),
        ),
      ),
    { isLossy: true },
  ),
  example('gpt-oss', 'harmony', template(HARMONY_TURNS, HARMONY), { isSingle: true }),
];
