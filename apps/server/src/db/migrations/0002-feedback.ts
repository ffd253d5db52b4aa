// The feedback table and its indexes. The indexes serve the usual queries: the newest rows of a project, of one
// feedback type or about one weave_ref, and the newest row of each trigger_ref for payload schemas. `ortler feedback
// index` adds indexes on payload paths.

import { type CreateTableBuilder, sql } from 'kysely';
import type { DatabaseMigration } from '../column-types.ts';

const REQUIRED_TEXTS = ['id', 'project_id', 'weave_ref', 'wb_user_id', 'feedback_type', 'payload_dump'];
const OPTIONAL_TEXTS = ['creator', 'annotation_ref', 'runnable_ref', 'call_ref', 'trigger_ref', 'queue_id'];
const SPAN_TEXTS = [
  'span_agent_name',
  'span_agent_version',
  'span_status_code',
  'span_conversation_id',
  'span_trace_id',
  'scorer_trace_id',
];
const MAPS = [
  'scorer_tag_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_reasons',
  'scorer_rating_confidences',
];

const INDEXES: Readonly<Record<string, readonly string[]>> = {
  feedback_newest: ['project_id', 'created_at', 'id'],
  feedback_by_type: ['project_id', 'feedback_type', 'created_at', 'id'],
  feedback_by_subject: ['project_id', 'weave_ref', 'created_at', 'id'],
  feedback_by_trigger: ['project_id', 'trigger_ref', 'created_at', 'id'],
};

export const feedbackMigration: DatabaseMigration = async (db, types) => {
  const { text, kind, tableEnd } = types;
  const isSqlite = kind === 'sqlite';
  let table: CreateTableBuilder<string, string> = db.schema.createTable('feedback');
  for (const name of [...REQUIRED_TEXTS, ...SPAN_TEXTS])
    table = table.addColumn(name, text, column => column.notNull());
  for (const name of OPTIONAL_TEXTS) table = table.addColumn(name, text);
  table = table.addColumn('created_at', isSqlite ? text : sql`timestamptz(3)`, column => column.notNull());
  table = table.addColumn('scorer_tags', isSqlite ? text : sql`text[]`, column => column.notNull());
  for (const name of MAPS)
    table = table.addColumn(name, isSqlite ? text : sql`jsonb`, column => column.notNull());
  // `payload_dump` keeps the JSON text as it was sent; PostgreSQL filters on the parsed `payload`.
  if (!isSqlite)
    table = table.addColumn('payload', sql`jsonb`, column =>
      column.generatedAlwaysAs(sql`payload_dump::jsonb`).stored(),
    );
  // An id is unique within its project, so no project can observe or block an id of another.
  await table.addPrimaryKeyConstraint('feedback_key', ['project_id', 'id']).modifyEnd(tableEnd).execute();
  for (const [name, columns] of Object.entries(INDEXES))
    await db.schema
      .createIndex(name)
      .on('feedback')
      .columns([...columns])
      .execute();
};
