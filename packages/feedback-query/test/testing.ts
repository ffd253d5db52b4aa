// Test doubles for other packages: query vectors with their rows, generators, the reference evaluator and chdb. Not part of
// the published package.
export { anyExpr, anyRows } from './arbitraries.ts';
export { type FeedbackRow, feedbackRow, toRecord, VECTOR_ROWS } from './feedback-row.ts';
export { printExpr } from './print-expr.ts';
export { QUERY_VECTORS } from './query-vectors.ts';
export { matches } from './reference-evaluator.ts';
export { findChdb, type RunningChdb, startChdb } from './start-chdb.ts';
