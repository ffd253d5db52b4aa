// Maps the settings of structured outputs to engine options. Limits without a setting keep the engine's default.

import { DEFAULT_CONSTRAINT_LIMITS, type EngineOptions } from '@ortler/engine';
import type { Config } from '../config/config.ts';

export function toConstraintOptions(config: Config): NonNullable<EngineOptions['constraints']> {
  return {
    timeLimitMs: config.constraintTimeLimitMs,
    limits: {
      ...DEFAULT_CONSTRAINT_LIMITS,
      sourceBytes: config.constraintSizeBytes,
      depth: config.constraintDepth,
      valueCount: config.constraintValues,
      ruleCount: config.constraintRules,
      patternSize: config.constraintPatternSize,
    },
    style: {
      whitespace: config.jsonWhitespace,
      limitNumbers: config.jsonNumberLimits === 'on',
      guardRepetition: config.jsonRepetitionGuard === 'on',
      // Off leaves it to `strict`.
      ...(config.jsonClosedObjects === 'on' && { closeObjects: true }),
    },
  };
}
