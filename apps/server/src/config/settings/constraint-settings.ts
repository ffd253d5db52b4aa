// Limits of structured outputs (JSON Schema, regular expressions, grammars): time and size. Caller: `../settings.ts`.

import { byteSize, MEBIBYTE, wholeNumber } from '../setting-values.ts';
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
    description: 'Structured outputs: most enum values of a schema in total, and most texts of a choice.',
    schema: wholeNumber(1, 1_000_000),
  }),
  constraintRules: setting({
    variable: 'ORTLER_CONSTRAINT_RULES',
    flag: '--constraint-rules',
    valueName: 'number',
    fallback: '2000',
    description: 'Structured outputs: most rules of a grammar.',
    schema: wholeNumber(1, 10_000),
  }),
  constraintPatternSize: setting({
    variable: 'ORTLER_CONSTRAINT_PATTERN_SIZE',
    flag: '--constraint-pattern-size',
    valueName: 'number',
    fallback: '20000',
    description:
      'Structured outputs: most characters of a regular expression with its counted repetitions expanded.',
    schema: wholeNumber(1, 10_000_000),
  }),
} as const;
