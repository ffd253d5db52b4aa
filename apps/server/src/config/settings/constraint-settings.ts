// Settings that bound structured outputs: time and size of what a request may ask for. Caller: `../settings.ts`.

import { byteSize, MEBIBYTE, wholeNumber } from '../setting-values.ts';
import { setting } from './setting.ts';

export const CONSTRAINT_SETTINGS = {
  constraintTimeLimitMs: setting({
    variable: 'ORTLER_CONSTRAINT_TIME_LIMIT_MS',
    flag: '--constraint-time-limit-ms',
    valueName: 'milliseconds',
    fallback: '2000',
    description:
      'Longest time the preparation of a schema, pattern or grammar may take, and the check of a finished answer.',
    schema: wholeNumber(10, 600_000),
  }),
  constraintSizeBytes: setting({
    variable: 'ORTLER_CONSTRAINT_SIZE',
    flag: '--constraint-size',
    valueName: 'size',
    fallback: '256kb',
    description: 'Largest schema, grammar, choice or structural tag; as --body-limit.',
    schema: byteSize(1_024, 1_024 * MEBIBYTE),
  }),
  constraintDepth: setting({
    variable: 'ORTLER_CONSTRAINT_DEPTH',
    flag: '--constraint-depth',
    valueName: 'levels',
    fallback: '64',
    description: 'Deepest nesting of schemas, groups of grammars and structural tags.',
    schema: wholeNumber(1, 120),
  }),
  constraintValues: setting({
    variable: 'ORTLER_CONSTRAINT_VALUES',
    flag: '--constraint-values',
    valueName: 'number',
    fallback: '10000',
    description: 'Most values in the enums of a schema together, and most texts of a choice.',
    schema: wholeNumber(1, 1_000_000),
  }),
  constraintRules: setting({
    variable: 'ORTLER_CONSTRAINT_RULES',
    flag: '--constraint-rules',
    valueName: 'number',
    fallback: '2000',
    description: 'Most rules of a grammar.',
    schema: wholeNumber(1, 10_000),
  }),
  constraintPatternSize: setting({
    variable: 'ORTLER_CONSTRAINT_PATTERN_SIZE',
    flag: '--constraint-pattern-size',
    valueName: 'number',
    fallback: '20000',
    description: 'Most characters of a regular expression once its counted repetitions are written out.',
    schema: wholeNumber(1, 10_000_000),
  }),
} as const;
