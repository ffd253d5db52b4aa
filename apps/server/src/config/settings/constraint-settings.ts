// Structured outputs (JSON Schema, regular expressions, grammars): limits on time and size, and the form of JSON. Caller: `../settings.ts`.

import { JSON_WHITESPACE } from '@ortler/engine';
import { byteSize, MEBIBYTE, oneOf, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

export const CONSTRAINT_SETTINGS = {
  constraintTimeLimitMs: setting({
    variable: 'ORTLER_CONSTRAINT_TIME_LIMIT_MS',
    flag: '--constraint-time-limit-ms',
    valueName: 'milliseconds',
    fallback: '2000',
    description:
      'Structured outputs: longest time to compile a schema, pattern or grammar, and to validate a finished answer.',
    schema: wholeNumber(10, 600_000),
  }),
  constraintSizeBytes: setting({
    variable: 'ORTLER_CONSTRAINT_SIZE',
    flag: '--constraint-size',
    valueName: 'size',
    fallback: '256kb',
    description:
      'Structured outputs: largest schema, grammar, choice or structural tag; units as for --body-limit.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  constraintDepth: setting({
    variable: 'ORTLER_CONSTRAINT_DEPTH',
    flag: '--constraint-depth',
    valueName: 'levels',
    fallback: '64',
    description: 'Structured outputs: deepest nesting of schemas, groups of grammars and structural tags.',
    schema: wholeNumber(1, 120),
  }),
  constraintValues: setting({
    variable: 'ORTLER_CONSTRAINT_VALUES',
    flag: '--constraint-values',
    valueName: 'number',
    fallback: '10000',
    description: 'Structured outputs: maximum number of enum values in a schema, and of texts in a choice.',
    schema: wholeNumber(1, 1_000_000),
  }),
  constraintRules: setting({
    variable: 'ORTLER_CONSTRAINT_RULES',
    flag: '--constraint-rules',
    valueName: 'number',
    fallback: '2000',
    description: 'Structured outputs: maximum number of rules in a grammar.',
    schema: wholeNumber(1, 10_000),
  }),
  constraintPatternSize: setting({
    variable: 'ORTLER_CONSTRAINT_PATTERN_SIZE',
    flag: '--constraint-pattern-size',
    valueName: 'number',
    fallback: '20000',
    description:
      'Structured outputs: maximum length of a regular expression with its counted repetitions expanded, in characters.',
    schema: wholeNumber(1, 10_000_000),
  }),
  jsonWhitespace: setting({
    variable: 'ORTLER_JSON_WHITESPACE',
    flag: '--json-whitespace',
    valueName: 'name',
    fallback: 'canonical',
    description:
      'Structured outputs: whitespace in JSON where a request does not say. canonical (one layout: on one line, without or with a space after commas and colons, or indented), bounded (little anywhere), any or none.',
    schema: oneOf(JSON_WHITESPACE),
  }),
  jsonNumberLimits: setting({
    variable: 'ORTLER_JSON_NUMBER_LIMITS',
    flag: '--json-number-limits',
    valueName: 'on or off',
    fallback: 'on',
    description:
      'Structured outputs: integers of at most 19 digits, other numbers of at most 17 significant digits and exponents of 3, unless the schema has longer ones or the request says otherwise.',
    schema: oneOf(['on', 'off']),
  }),
  jsonRepetitionGuard: setting({
    variable: 'ORTLER_JSON_REPETITION_GUARD',
    flag: '--json-repetition-guard',
    valueName: 'on or off',
    fallback: 'on',
    description:
      'Structured outputs: a string, list or object of JSON that repeats itself (one unit at least three times in a row, over at least 96 bytes) is steered to its end, unless the request says otherwise.',
    schema: oneOf(['on', 'off']),
  }),
  jsonClosedObjects: setting({
    variable: 'ORTLER_JSON_CLOSED_OBJECTS',
    flag: '--json-closed-objects',
    valueName: 'on or off',
    fallback: 'off',
    description:
      'Structured outputs: objects of a schema that has properties and says nothing of additionalProperties allow no others. With off they are closed only under strict: true.',
    schema: oneOf(['on', 'off']),
  }),
} as const;
