// Public surface of @ortler/structured-output.

export {
  type ConstraintEngine,
  type ConstraintMatcher,
  type Grammar,
  GrammarRefused,
  MatcherFailed,
  type PreparedConstraint,
} from './constraint.ts';
export {
  allowsToken,
  type CompiledConstraint,
  ConstraintCompiler,
} from './constraint-compiler.ts';
export {
  type ConstraintLimits,
  type ConstraintSpec,
  DEFAULT_CONSTRAINT_LIMITS,
  JSON_WHITESPACE,
  type JsonStyle,
  type JsonWhitespace,
  type TagConstraint,
} from './constraint-spec.ts';
export { ConstraintError, type ConstraintErrorCode, type ConstraintErrorDetails } from './errors.ts';
export { findJsonPosition, type JsonPosition } from './json-form/json-position.ts';
export { LlguidanceEngine } from './llguidance/llguidance-engine.ts';
export { ReasoningEnd } from './reasoning-end.ts';
export type { TaggedNode, TagNode } from './tag-node.ts';
export {
  createTokenVocabulary,
  type SpecialToken,
  type TokenVocabulary,
  type TokenVocabularyOptions,
} from './token-vocabulary.ts';
export { ConstraintPreparer, type ConstraintPreparerOptions } from './worker/constraint-preparer.ts';
export { createJsonSchemaChecker, type JsonSchemaChecker } from './worker/json-schema-checker.ts';
