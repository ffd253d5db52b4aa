// Public API: parse and bind a feedback query, compile it to SQL, discover payload paths.
export { bindExpr } from './bind/bind-expr.ts';
export { type BoundFeedbackQuery, bindFeedbackQuery, type FeedbackQuery } from './bind/bind-query.ts';
export {
  COLUMNS,
  type Column,
  type ColumnType,
  type FeedbackColumns,
  type FeedbackRecord,
} from './bind/columns.ts';
export { pinnedIds } from './bind/pinned-ids.ts';
export type { Cursor, SortDirection, SortKey } from './bind/sort-order.ts';
export { cursorMoment, type TimeWindow, timeDirection, withinWindow } from './bind/time-window.ts';
export {
  compilePayloadSampleQuery,
  compileSampledPayloadsQuery,
  DEFAULT_SAMPLE_LIMIT,
  MAX_SAMPLE_LIMIT,
  type PayloadSampleQuery,
  type SampledKey,
  type SampledPayload,
} from './compile/compile-payload-sample.ts';
export {
  type CompiledFeedbackQuery,
  type CompileOptions,
  compileFeedbackQuery,
  explainFeedbackQuery,
} from './compile/compile-query.ts';
export type { QueryDialect } from './compile/dialect.ts';
export { type IndexReading, payloadIndexExpression } from './compile/payload-index.ts';
export { type ResultColumn, type ResultRow, toRowText } from './compile/result-row.ts';
export { clickHouseDialect } from './dialects/clickhouse.ts';
export { toClickHouseInteger, toClickHousePayload } from './dialects/clickhouse-payload.ts';
export { ClickHouseQueryCompiler, toClickHouseParams } from './dialects/clickhouse-query-compiler.ts';
export {
  createInterruptibleSqliteDialect,
  type InterruptionFunctions,
} from './dialects/interruptible-sqlite.ts';
export { postgresDialect } from './dialects/postgres.ts';
export { sqliteDialect } from './dialects/sqlite.ts';
export {
  QUERY_ERROR_FAULTS,
  QueryError,
  type QueryErrorCode,
  type QueryFault,
  type QueryPath,
} from './errors.ts';
export type { ExprNode } from './parse/expr-node.ts';
export { GRAMMAR, type GrammarRule } from './parse/grammar.ts';
export { grammarJsonSchema, grammarMarkdown } from './parse/grammar-docs.ts';
export { DEFAULT_QUERY_LIMITS, type QueryLimits } from './parse/limits.ts';
export { parseExpr, parseQuery } from './parse/parse-expr.ts';
export {
  discoverPayloadPaths,
  MAX_DISCOVERED_PATHS,
  type PayloadPath,
  PayloadPathCollector,
  type PayloadValueType,
} from './parse/payload-paths.ts';
