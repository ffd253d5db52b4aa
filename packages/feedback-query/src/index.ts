// Public surface: parse and bind a feedback query, compile it for a database, discover payload paths.
export { bindExpr } from './bind-expr.ts';
export { type BoundFeedbackQuery, bindFeedbackQuery, type FeedbackQuery } from './bind-query.ts';
export {
  compilePayloadSampleQuery,
  compileSampledPayloadsQuery,
  DEFAULT_SAMPLE_LIMIT,
  MAX_SAMPLE_LIMIT,
  type PayloadSampleQuery,
  type SampledKey,
  type SampledPayload,
} from './compile-payload-sample.ts';
export {
  type CompiledFeedbackQuery,
  type CompileOptions,
  compileFeedbackQuery,
  explainFeedbackQuery,
} from './compile-query.ts';
export { clickHouseDialect } from './dialects/clickhouse.ts';
export { toClickHousePayload } from './dialects/clickhouse-payload.ts';
export { ClickHouseQueryCompiler, toClickHouseParams } from './dialects/clickhouse-query-compiler.ts';
export type { QueryDialect } from './dialects/dialect.ts';
export { postgresDialect } from './dialects/postgres.ts';
export { sqliteDialect } from './dialects/sqlite.ts';
export {
  QUERY_ERROR_FAULTS,
  QueryError,
  type QueryErrorCode,
  type QueryFault,
  type QueryPath,
} from './errors.ts';
export type { ExprNode } from './expr-node.ts';
export type { FeedbackColumns, FeedbackRecord } from './feedback-record.ts';
export { COLUMNS, type Column, type ColumnType } from './fields.ts';
export { GRAMMAR, type GrammarRule } from './grammar.ts';
export { grammarJsonSchema, grammarMarkdown } from './grammar-docs.ts';
export { DEFAULT_QUERY_LIMITS, type QueryLimits } from './limits.ts';
export { parseExpr, parseQuery } from './parse-expr.ts';
export { type IndexReading, payloadIndexExpression } from './payload-index.ts';
export {
  discoverPayloadPaths,
  type PayloadPath,
  PayloadPathCollector,
  type PayloadValueType,
} from './payload-paths.ts';
export type { ResultRow } from './selection.ts';
export type { Cursor, SortDirection, SortKey } from './sort-order.ts';
export { type TimeWindow, timeDirection, withinWindow } from './time-window.ts';
