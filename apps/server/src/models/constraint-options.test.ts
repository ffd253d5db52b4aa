import { DEFAULT_CONSTRAINT_LIMITS } from '@ortler/engine';
import { expect, it } from 'vitest';
import { readConfig } from '../config/config.ts';
import { toConstraintOptions } from './constraint-options.ts';

it('gives the engine its own defaults where nothing is set', () => {
  expect(toConstraintOptions(readConfig({}))).toEqual({
    timeLimitMs: 2_000,
    limits: DEFAULT_CONSTRAINT_LIMITS,
    style: { whitespace: 'canonical', limitNumbers: true, guardRepetition: true },
  });
});

it('gives the engine every setting', () => {
  const config = readConfig({
    ORTLER_CONSTRAINT_TIME_LIMIT_MS: '500',
    ORTLER_CONSTRAINT_SIZE: '4kb',
    ORTLER_CONSTRAINT_DEPTH: '5',
    ORTLER_CONSTRAINT_VALUES: '6',
    ORTLER_CONSTRAINT_RULES: '7',
    ORTLER_CONSTRAINT_PATTERN_SIZE: '8',
    ORTLER_JSON_WHITESPACE: 'bounded',
    ORTLER_JSON_NUMBER_LIMITS: 'off',
    ORTLER_JSON_REPETITION_GUARD: 'off',
    ORTLER_JSON_CLOSED_OBJECTS: 'on',
  });
  expect(toConstraintOptions(config)).toEqual({
    timeLimitMs: 500,
    limits: {
      ...DEFAULT_CONSTRAINT_LIMITS,
      sourceBytes: 4096,
      depth: 5,
      valueCount: 6,
      ruleCount: 7,
      patternSize: 8,
    },
    style: { whitespace: 'bounded', limitNumbers: false, guardRepetition: false, closeObjects: true },
  });
});
