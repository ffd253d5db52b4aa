// The published dialects, by name. Source: the chat templates of the models named in `usedBy`.

import type { ArgumentsForm, CallPart, IdRule, LiteralNotation, ToolDialect } from '../tool-dialect.ts';

export const TOOL_DIALECT_NAMES = [
  'hermes',
  'qwen3-coder',
  'glm-4.5',
  'glm-4.7',
  'deepseek-v3',
  'deepseek-v3.1',
  'deepseek-v3.2',
  'deepseek-v4',
  'kimi-k2',
  'cohere',
  'mistral',
  'mistral-v11',
  'mistral-list',
  'granite',
  'phi-4',
  'lfm2',
  'gemma-4',
  'harmony',
  'minicpm-5',
  'functionary',
  'llama-3',
  'pythonic',
] as const;

export type ToolDialectName = (typeof TOOL_DIALECT_NAMES)[number];

export interface NamedDialect {
  readonly dialect: ToolDialect;
  /** Texts that the chat template of such a model contains, all of them. */
  readonly templateMarks: readonly string[];
  /** The same for templates that render tools but no calls. */
  readonly toolMarks?: readonly string[];
  readonly usedBy: string;
}

const JSON_ARGUMENTS: ArgumentsForm = { kind: 'json' };
const OPENAI_IDS: IdRule = { kind: 'random', prefix: 'call_', length: 24 };
const NO_SECTION = { open: '', close: '' };
const PYTHON: LiteralNotation = {
  quote: 'json',
  words: { true: 'True', false: 'False', null: 'None' },
  keys: 'strings',
  keyEnd: ': ',
  separator: ', ',
};
const PYTHON_ARGUMENTS: ArgumentsForm = {
  kind: 'literals',
  nameEnd: '=',
  separator: ', ',
  notation: PYTHON,
};

/** A call that is an object of JSON with the name and the arguments, between two texts. */
const jsonCall = (open: string, close: string, argumentsKey = 'arguments'): readonly CallPart[] => [
  { text: `${open}{"name": "` },
  'name',
  { text: `", "${argumentsKey}": ` },
  'arguments',
  { text: `}${close}` },
];

const dsml = (
  section: string,
): Pick<ToolDialect, 'trigger' | 'section' | 'separator' | 'call' | 'arguments'> => ({
  trigger: `<｜DSML｜${section}>`,
  section: { open: `<｜DSML｜${section}>\n`, close: `\n</｜DSML｜${section}>` },
  separator: '\n',
  call: [
    { text: '<｜DSML｜invoke name="' },
    'name',
    { text: '">\n' },
    'arguments',
    { text: '</｜DSML｜invoke>' },
  ],
  arguments: {
    kind: 'tagged',
    open: '<｜DSML｜parameter name="',
    nameEnd: '" string="true">',
    jsonNameEnd: '" string="false">',
    close: '</｜DSML｜parameter>\n',
  },
});

const named = (
  name: string,
  changes: Pick<ToolDialect, 'trigger' | 'call'> & Partial<ToolDialect>,
): ToolDialect => ({
  name,
  position: 'anywhere',
  section: NO_SECTION,
  separator: '\n',
  arguments: JSON_ARGUMENTS,
  ids: OPENAI_IDS,
  ...changes,
});

/** All of them. Where a template has the marks of several, the first one is taken. */
export const NAMED_DIALECTS: Readonly<Record<ToolDialectName, NamedDialect>> = {
  harmony: {
    dialect: named('harmony', {
      trigger: '<|channel|>commentary to=functions.',
      separator: '',
      call: [
        { text: '<|channel|>commentary to=functions.' },
        'name',
        { text: ' <|constrain|>json<|message|>' },
        'arguments',
      ],
      alsoRead: [
        {
          trigger: '<|start|>assistant to=functions.',
          call: [
            { text: '<|start|>assistant to=functions.' },
            'name',
            { text: '<|channel|>commentary json<|message|>' },
            'arguments',
          ],
        },
      ],
      isSingle: true,
      isChannelled: true,
    }),
    templateMarks: ['<|channel|>', 'functions.'],
    usedBy: 'gpt-oss',
  },
  'gemma-4': {
    dialect: named('gemma-4', {
      trigger: '<|tool_call>',
      separator: '',
      call: [{ text: '<|tool_call>call:' }, 'name', { text: '{' }, 'arguments', { text: '}<tool_call|>' }],
      arguments: {
        kind: 'literals',
        nameEnd: ':',
        separator: ',',
        notation: {
          quote: { mark: '<|"|>' },
          words: { true: 'true', false: 'false', null: 'null' },
          keys: 'bare',
          keyEnd: ':',
          separator: ',',
        },
      },
    }),
    templateMarks: ['<|tool_call>call:'],
    usedBy: 'Gemma 4',
  },
  'deepseek-v3': {
    dialect: named('deepseek-v3', {
      trigger: '<｜tool▁calls▁begin｜>',
      section: { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' },
      call: [
        { text: '<｜tool▁call▁begin｜>function<｜tool▁sep｜>' },
        'name',
        { text: '\n```json\n' },
        'arguments',
        { text: '\n```<｜tool▁call▁end｜>' },
      ],
    }),
    templateMarks: ['<｜tool▁calls▁begin｜>', '```json'],
    usedBy: 'DeepSeek V3 and R1',
  },
  'deepseek-v3.1': {
    dialect: named('deepseek-v3.1', {
      trigger: '<｜tool▁calls▁begin｜>',
      section: { open: '<｜tool▁calls▁begin｜>', close: '<｜tool▁calls▁end｜>' },
      separator: '',
      call: [
        { text: '<｜tool▁call▁begin｜>' },
        'name',
        { text: '<｜tool▁sep｜>' },
        'arguments',
        { text: '<｜tool▁call▁end｜>' },
      ],
    }),
    templateMarks: ['<｜tool▁calls▁begin｜>'],
    usedBy: 'DeepSeek V3.1',
  },
  'deepseek-v3.2': {
    dialect: named('deepseek-v3.2', dsml('function_calls')),
    templateMarks: ['｜DSML｜', 'function_calls>'],
    usedBy: 'DeepSeek V3.2',
  },
  'deepseek-v4': {
    dialect: named('deepseek-v4', dsml('tool_calls')),
    templateMarks: ['｜DSML｜', 'tool_calls>'],
    usedBy: 'DeepSeek V4',
  },
  'kimi-k2': {
    dialect: named('kimi-k2', {
      trigger: '<|tool_calls_section_begin|>',
      section: { open: '<|tool_calls_section_begin|>', close: '<|tool_calls_section_end|>' },
      separator: '',
      call: [
        { text: '<|tool_call_begin|>functions.' },
        'name',
        { text: ':' },
        'index',
        { text: '<|tool_call_argument_begin|>' },
        'arguments',
        { text: '<|tool_call_end|>' },
      ],
      ids: { kind: 'named', prefix: 'functions.' },
    }),
    templateMarks: ['<|tool_calls_section_begin|>'],
    usedBy: 'Kimi K2',
  },
  cohere: {
    dialect: named('cohere', {
      trigger: '<|START_ACTION|>',
      section: { open: '<|START_ACTION|>[\n    ', close: '\n]<|END_ACTION|>' },
      separator: ',\n    ',
      call: [
        { text: '{"tool_call_id": "' },
        'index',
        { text: '", "tool_name": "' },
        'name',
        { text: '", "parameters": ' },
        'arguments',
        { text: '}' },
      ],
    }),
    templateMarks: ['<|START_ACTION|>', '"tool_call_id": "', '"tool_name": "'],
    usedBy: 'Command R7B and later',
  },
  'mistral-v11': {
    dialect: named('mistral-v11', {
      trigger: '[TOOL_CALLS]',
      separator: '',
      call: [{ text: '[TOOL_CALLS]' }, 'name', { text: '[CALL_ID]' }, 'id', { text: '[ARGS]' }, 'arguments'],
      ids: { kind: 'random', prefix: '', length: 9 },
    }),
    templateMarks: ['[TOOL_CALLS]', '[CALL_ID]', '[ARGS]'],
    usedBy: 'Mistral Small 3.2',
  },
  mistral: {
    dialect: named('mistral', {
      trigger: '[TOOL_CALLS]',
      separator: '',
      call: [{ text: '[TOOL_CALLS]' }, 'name', { text: '[ARGS]' }, 'arguments'],
      ids: { kind: 'random', prefix: '', length: 9 },
    }),
    templateMarks: ['[TOOL_CALLS]', '[ARGS]'],
    usedBy: 'Magistral, Devstral, Ministral 3',
  },
  'mistral-list': {
    dialect: named('mistral-list', {
      trigger: '[TOOL_CALLS]',
      section: { open: '[TOOL_CALLS] [', close: ']' },
      separator: ', ',
      call: [
        { text: '{"name": "' },
        'name',
        { text: '", "arguments": ' },
        'arguments',
        { text: ', "id": "' },
        'id',
        { text: '"}' },
      ],
      ids: { kind: 'random', prefix: '', length: 9 },
    }),
    templateMarks: ['[TOOL_CALLS]'],
    usedBy: 'Mistral 7B v0.3, Nemo, Small 3',
  },
  granite: {
    dialect: named('granite', {
      trigger: '<|tool_call|>',
      section: { open: '<|tool_call|>[', close: ']' },
      separator: ', ',
      call: jsonCall('', ''),
    }),
    templateMarks: ['<|tool_call|>', '<|start_of_role|>'],
    usedBy: 'Granite 3',
  },
  'phi-4': {
    dialect: named('phi-4', {
      trigger: '<|tool_call|>',
      section: { open: '<|tool_call|>[', close: ']<|/tool_call|>' },
      separator: ', ',
      call: jsonCall('', ''),
    }),
    templateMarks: ['<|tool_call|>', '<|/tool_call|>'],
    usedBy: 'Phi-4-mini',
  },
  lfm2: {
    dialect: named('lfm2', {
      trigger: '<|tool_call_start|>',
      section: { open: '<|tool_call_start|>[', close: ']<|tool_call_end|>' },
      separator: ', ',
      call: ['name', { text: '(' }, 'arguments', { text: ')' }],
      arguments: PYTHON_ARGUMENTS,
    }),
    templateMarks: ['<|tool_call_start|>'],
    toolMarks: ['"List of tools: '],
    usedBy: 'LFM2',
  },
  'qwen3-coder': {
    dialect: named('qwen3-coder', {
      trigger: '<tool_call>',
      call: [
        { text: '<tool_call>\n<function=' },
        'name',
        { text: '>\n' },
        'arguments',
        { text: '</function>\n</tool_call>' },
      ],
      arguments: { kind: 'tagged', open: '<parameter=', nameEnd: '>\n', close: '\n</parameter>\n' },
    }),
    templateMarks: ['<tool_call>', '<function=', '<parameter='],
    usedBy: 'Qwen3-Coder, Qwen3.5',
  },
  'glm-4.7': {
    dialect: named('glm-4.7', {
      trigger: '<tool_call>',
      separator: '',
      call: [{ text: '<tool_call>' }, 'name', 'arguments', { text: '</tool_call>' }],
      arguments: {
        kind: 'tagged',
        open: '<arg_key>',
        nameEnd: '</arg_key><arg_value>',
        close: '</arg_value>',
      },
    }),
    templateMarks: ['<tool_call>', '</arg_key><arg_value>'],
    usedBy: 'GLM 4.7',
  },
  'glm-4.5': {
    dialect: named('glm-4.5', {
      trigger: '<tool_call>',
      call: [{ text: '<tool_call>' }, 'name', { text: '\n' }, 'arguments', { text: '</tool_call>' }],
      arguments: {
        kind: 'tagged',
        open: '<arg_key>',
        nameEnd: '</arg_key>\n<arg_value>',
        close: '</arg_value>\n',
      },
    }),
    templateMarks: ['<tool_call>', '<arg_key>'],
    usedBy: 'GLM 4.5 and 4.6',
  },
  hermes: {
    dialect: named('hermes', {
      trigger: '<tool_call>',
      call: jsonCall('<tool_call>\n', '\n</tool_call>'),
    }),
    templateMarks: ['<tool_call>'],
    usedBy: 'Qwen 2.5 and 3, Hermes, SmolLM3, Granite 4 and many others',
  },
  'minicpm-5': {
    dialect: named('minicpm-5', {
      trigger: '<function name="',
      call: [{ text: '<function name="' }, 'name', { text: '">' }, 'arguments', { text: '</function>' }],
      arguments: {
        kind: 'tagged',
        open: '<param name="',
        nameEnd: '">',
        wrap: { open: '<![CDATA[', close: ']]>' },
        close: '</param>',
      },
    }),
    templateMarks: ['<function name="', '<param name="', '<![CDATA['],
    usedBy: 'MiniCPM 5',
  },
  functionary: {
    dialect: named('functionary', {
      trigger: '<function=',
      separator: '',
      call: [{ text: '<function=' }, 'name', { text: '>' }, 'arguments', { text: '</function>' }],
    }),
    templateMarks: ['<function=', '</function>', '<|python_tag|>'],
    usedBy: 'Functionary 3.1',
  },
  'llama-3': {
    dialect: named('llama-3', {
      trigger: '{"name": "',
      position: 'start',
      separator: '',
      isSingle: true,
      call: jsonCall('', '', 'parameters'),
    }),
    templateMarks: ['{"name": "', '"parameters": '],
    usedBy: 'Llama 3.1, 3.2 and 3.3',
  },
  pythonic: {
    dialect: named('pythonic', {
      trigger: '[',
      position: 'start',
      section: { open: '[', close: ']' },
      separator: ', ',
      call: ['name', { text: '(' }, 'arguments', { text: ')' }],
      arguments: PYTHON_ARGUMENTS,
    }),
    templateMarks: ['func_name1('],
    usedBy: 'Llama 4, Llama 3.2 with pythonic prompts, ToolACE',
  },
};
