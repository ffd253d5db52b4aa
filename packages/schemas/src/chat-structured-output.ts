// Structured outputs of a chat request: `response_format` and `structured_outputs`. Only their envelope is validated here;
// the engine validates the schema or grammar itself.

import { z } from 'zod';
import { jsonObject } from './bounded-collections.ts';
import { laxBoolean, nullAsDefault, reportRule } from './lax-primitives.ts';

const jsonSchemaFormat = z.object({
  // Optional, because the published table of fields omits it: an object with `json_schema` alone means this format.
  type: z
    .literal('json_schema')
    .optional()
    .transform(() => 'json_schema' as const)
    .describe('Optional when `json_schema` is given.'),
  json_schema: z
    .object({
      name: z.string().describe('Name of the schema.'),
      description: z.string().nullish().describe('Purpose of the schema. It has no effect.'),
      schema: jsonObject().describe('JSON Schema that the output must satisfy.'),
      strict: laxBoolean()
        .nullish()
        .describe(
          'True: keywords that cannot be enforced while the output is generated are refused, and objects without `additionalProperties` allow none. The schema is enforced in either case.',
        ),
    })
    .describe('The schema and its name.'),
});

const structuralTagFormat = z
  .object({
    type: z.literal('structural_tag'),
    format: jsonObject().optional().describe('Structural tag in the newer form.'),
    structures: z
      .array(
        z.object({
          begin: z.string().describe('Text that begins the structure.'),
          schema: jsonObject().describe('JSON Schema of its content.'),
          end: z.string().describe('Text that ends the structure.'),
        }),
      )
      .optional()
      .describe('Structures of the older form.'),
    triggers: z.array(z.string()).optional().describe('Texts that trigger a structure, in the older form.'),
  })
  .check(context => {
    const { format, structures, triggers } = context.value;
    if (format !== undefined || (structures !== undefined && triggers !== undefined)) return;
    reportRule(context, 'format', 'A structural tag needs format, or structures with triggers');
  });

/** The `response_format` field. */
export const responseFormat = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text').describe('No constraint.') }),
    z.object({ type: z.literal('json_object').describe('The output is one JSON object.') }),
    jsonSchemaFormat,
    structuralTagFormat,
  ])
  .describe('Shape of the output. With `json_schema` the output is JSON that satisfies the schema.');
export type ResponseFormat = z.output<typeof responseFormat>;

/** The constraints of `structured_outputs`, of which one must be given, unless it has options of the calls of tools alone. */
export const CONSTRAINT_FIELDS = [
  'json',
  'regex',
  'choice',
  'grammar',
  'json_object',
  'structural_tag',
] as const;

/** Options of `structured_outputs` that are about the arguments of calls as well. */
const CALL_OPTIONS = [
  'disable_any_whitespace',
  'whitespace_pattern',
  'json_whitespace',
  'disable_number_limits',
  'disable_repetition_guard',
] as const;

/** The `structured_outputs` field. */
export const structuredOutputs = z
  .object({
    json: z
      .union([z.string(), jsonObject()])
      .nullish()
      .describe('JSON Schema of the output, as JSON text or as an object.'),
    regex: z.string().nullish().describe('Regular expression that the whole output matches.'),
    choice: z.array(z.string()).min(1).nullish().describe('The output is exactly one of these texts.'),
    grammar: z.string().nullish().describe('Context-free grammar of the output, in EBNF or Lark notation.'),
    json_object: laxBoolean().nullish().describe('True: the output is any JSON object.'),
    disable_fallback: nullAsDefault(laxBoolean(), false).describe(
      'Accepted without effect: there is one grammar engine, and constraints that it cannot enforce are refused.',
    ),
    disable_any_whitespace: nullAsDefault(laxBoolean(), false).describe(
      'Allows no whitespace between the tokens of JSON output. By default the output has one canonical layout: on one line, without or with a space after commas and colons, or indented.',
    ),
    disable_additional_properties: nullAsDefault(laxBoolean(), false).describe(
      'Objects of the schema with `properties` and without `additionalProperties` allow no others.',
    ),
    whitespace_pattern: z
      .string()
      .nullish()
      .describe('Regular expression of the whitespace around commas and colons in JSON output.'),
    json_whitespace: z
      .enum(['canonical', 'bounded', 'any', 'none'])
      .nullish()
      .describe(
        'Whitespace in JSON output: one canonical layout, little anywhere, any amount, or none. Default: the setting of the server, else `canonical`.',
      ),
    disable_number_limits: laxBoolean()
      .nullish()
      .describe(
        'True: numbers of any length in JSON output. By default integers have at most 19 digits, and other numbers 17 significant ones and an exponent of 3.',
      ),
    disable_repetition_guard: laxBoolean()
      .nullish()
      .describe(
        'True: strings, lists and objects of JSON output may repeat themselves without an end. By default they are steered to their end.',
      ),
    structural_tag: z.string().nullish().describe('Structural tag as JSON text.'),
    _backend: z.string().nullish().describe('Internal name of a grammar engine. Accepted.'),
    _backend_was_auto: nullAsDefault(laxBoolean(), false).describe('Internal. Accepted.'),
  })
  .check(context => {
    const given = CONSTRAINT_FIELDS.filter(field => (context.value[field] ?? null) !== null);
    // Whether there are tools is not known here: the api refuses options without a constraint and without tools.
    if (given.length === 0 && CALL_OPTIONS.some(option => context.value[option])) return;
    if (given.length !== 1) {
      const found = given.length === 0 ? 'none' : given.join(', ');
      reportRule(context, [], `Give exactly one of ${CONSTRAINT_FIELDS.join(', ')}; found ${found}`);
    } else if (context.value.json_object === false) {
      reportRule(context, 'json_object', 'json_object must be true when it is given');
    }
  })
  .describe(
    'Structured outputs: one constraint on the output, and options of JSON output. Beside tools the options of whitespace, numbers and repetition hold for the arguments of calls, and may stand alone.',
  );
export type StructuredOutputs = z.output<typeof structuredOutputs>;

export const structuredOutputFields = {
  response_format: responseFormat.nullish(),
  structured_outputs: structuredOutputs.nullish(),
} as const;

export const responseFormatExamples = {
  valid: [
    { type: 'text' },
    { type: 'json_object' },
    { type: 'json_schema', json_schema: { name: 'city', schema: { type: 'object' }, strict: true } },
    { json_schema: { name: 'city', description: 'A city', schema: { type: 'string' } } },
    { type: 'structural_tag', structures: [{ begin: '<f>', schema: {}, end: '</f>' }], triggers: ['<f>'] },
    { type: 'structural_tag', format: { type: 'any_text' } },
  ],
  invalid: [
    { input: { type: 'yaml' }, type: 'literal_error', loc: ['type'] },
    { input: { type: 'json_schema' }, type: 'missing', loc: ['json_schema'] },
    { input: {}, type: 'missing', loc: ['json_schema'] },
    { input: { json_schema: { name: 'x' } }, type: 'missing', loc: ['json_schema', 'schema'] },
    {
      input: { json_schema: { name: 'x', schema: null } },
      type: 'dict_type',
      loc: ['json_schema', 'schema'],
    },
    { input: { type: 'structural_tag' }, type: 'value_error', loc: ['format'] },
  ],
} as const;

export const structuredOutputsExamples = {
  valid: [
    { choice: ['yes', 'no'] },
    { json: '{"type":"object"}', disable_any_whitespace: true },
    { json: {}, json_whitespace: 'any', disable_number_limits: true, disable_repetition_guard: false },
    { json: { type: 'object' }, regex: null },
    { regex: '[0-9]{3}' },
    { grammar: 'root ::= "hi"' },
    { json_object: true },
    { structural_tag: '{"type":"structural_tag"}' },
  ],
  invalid: [
    { input: {}, type: 'value_error', loc: [] },
    { input: { regex: 'a', choice: ['a'] }, type: 'value_error', loc: [] },
    { input: { choice: [] }, type: 'too_short', loc: ['choice'] },
    { input: { choice: [1] }, type: 'string_type', loc: ['choice', '0'] },
    { input: { json: 5 }, type: 'string_type', loc: ['json'] },
    { input: { json: {}, json_whitespace: 'some' }, type: 'literal_error', loc: ['json_whitespace'] },
    { input: { json_object: false }, type: 'value_error', loc: ['json_object'] },
  ],
} as const;
