import { DatabaseSync } from 'node:sqlite';
import { bindFeedbackQuery, compileFeedbackQuery, sqliteDialect } from '@ortler/feedback-query';

const db = new DatabaseSync(':memory:');
db.exec(`CREATE TABLE feedback (id TEXT, project_id TEXT, created_at TEXT, payload_dump TEXT)`);
const insert = db.prepare(`INSERT INTO feedback VALUES (?, 'acme/app', ?, ?)`);
insert.run('f1', '2026-01-01T00:00:00.000Z', '{"score":0.9,"label":"good"}');
insert.run('f2', '2026-01-02T00:00:00.000Z', '{"score":"0.7"}');
insert.run('f3', '2026-01-03T00:00:00.000Z', '{"label":"bad"}');

// 1. Parse and bind. An invalid query throws QueryError { code, path, fault }.
const query = bindFeedbackQuery({
  projectId: 'acme/app',
  fields: ['id', 'payload.score'],
  query: { $expr: { $gt: [{ $getField: 'payload.score' }, { $literal: 0.5 }] } },
  sortBy: [{ field: 'payload.score', direction: 'desc' }],
  limit: 10,
});

// 2. Compile for a dialect. With Kysely, run it with `db.executeQuery(compiled.statement)`.
const compiled = compileFeedbackQuery(query, sqliteDialect);
const { sql, parameters } = compiled.statement;

// 3. Run the statement and decode the rows.
const rows = db
  .prepare(sql)
  .all(...(parameters as string[]))
  .map(compiled.toResult);
export const result = rows; // [{ id: 'f1', 'payload.score': 0.9 }, { id: 'f2', 'payload.score': '0.7' }]
