// Public surface of @ortler/tool-calling.

export { chooseDialect, type DialectSources } from './dialects/choose-dialect.ts';
export {
  NAMED_DIALECTS,
  type NamedDialect,
  TOOL_DIALECT_NAMES,
  type ToolDialectName,
} from './dialects/named-dialects.ts';
export { findFirst, longestOpenMark } from './find-marks.ts';
export { createToolGrammar, findTriggers, type ToolGrammarOptions } from './grammar/tool-grammar.ts';
export { ToolGrammarError } from './grammar/tool-grammar-error.ts';
export {
  type CallDelta,
  type ParsedText,
  ToolCallParser,
  type ToolCallParserOptions,
} from './parser/tool-call-parser.ts';
export { type RenderConversation, showsCalls } from './probe/probe-conversation.ts';
export type { CallRule, Tool, ToolDialect, ToolSchema } from './tool-dialect.ts';
export { type PastCall, writeCalls } from './write-calls.ts';
