// How long feedback queries take on a table of many rows, on SQLite or on the PostgreSQL of DATABASE_URL, and how long the
// main thread is held meanwhile.
//
//     npm run bench -- feedback-query --rows 1000000

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { bindFeedbackQuery, type FeedbackQuery } from '@ortler/feedback-query';
import { createFeedbackStore, createPayloadIndex, openDatabase } from '@ortler/server/feedback';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean' },
  },
});
const PROJECT = 'acme/app';
const BATCH_SIZE = 1_000;
const rowCount = Number(values.rows);
const roundCount = Number(values.rounds);

const newest = [{ field: 'created_at', direction: 'desc' as const }];
const compare = (operator: '$gt' | '$eq', field: string, value: string | number) => ({
  $expr: { [operator]: [{ $getField: field }, { $literal: value }] },
});
const QUERIES: Readonly<Record<string, Partial<FeedbackQuery>>> = {
  'newest 100 above a score': { query: compare('$gt', 'payload.score', 0.5), sortBy: newest, limit: 100 },
  'full scan for a rare label': { query: compare('$eq', 'payload.label', 'rare-7'), limit: 100 },
  'count above a score': { query: compare('$gt', 'payload.score', 0.5), fields: ['count(*)'] },
};

if (values.help === true)
  console.log('Options: --rows <number>, --rounds <number>; DATABASE_URL for PostgreSQL.');
else await main();

async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'ortler-bench-feedback-'));
  const databaseUrl = process.env.DATABASE_URL;
  const database = await openDatabase({ dataDir, databaseUrl, queryTimeLimitMs: 600_000 });
  try {
    const store = createFeedbackStore(database);
    const insertStart = performance.now();
    for (let start = 0; start < rowCount; start += BATCH_SIZE)
      await store.insert(
        Array.from({ length: Math.min(BATCH_SIZE, rowCount - start) }, (_, index) => rowOf(start + index)),
      );
    const insertMs = performance.now() - insertStart;
    const before = await measure(store);
    await createPayloadIndex(database, { path: 'payload.label', reading: 'text' });
    const after = await measure(store);
    const result = {
      bench: 'feedback-query',
      database: database.kind,
      rowCount,
      insertMs: Math.round(insertMs),
    };
    console.log(JSON.stringify({ ...result, before, withLabelIndex: after, ...describeMachine() }, null, 2));
  } finally {
    await database.close();
    await rm(dataDir, { recursive: true });
  }
}

async function measure(store: ReturnType<typeof createFeedbackStore>) {
  const result: Record<string, unknown> = {};
  for (const [name, parts] of Object.entries(QUERIES)) {
    const query = bindFeedbackQuery({ projectId: PROJECT, fields: ['id'], ...parts });
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const times: number[] = [];
    let rows = 0;
    delay.enable();
    for (let round = 0; round < roundCount; round++) {
      const start = performance.now();
      rows = (await store.query(query)).rows.length;
      times.push(performance.now() - start);
    }
    delay.disable();
    result[name] = {
      medianMs: round1(median(times)),
      mainThreadP99Ms: round1(delay.percentile(99) / 1e6),
      rows,
    };
  }
  return result;
}

function rowOf(index: number) {
  const isRare = index % 100_000 === 7;
  return {
    id: `row-${String(index).padStart(9, '0')}`,
    project_id: PROJECT,
    weave_ref: `weave:///acme/app/call/${index % 50_000}`,
    wb_user_id: 'bench',
    creator: null,
    created_at_ms: 1_760_000_000_000 + index * 100,
    feedback_type: `custom.t${index % 20}`,
    payload_dump: JSON.stringify({
      score: (index % 1_000) / 1_000,
      label: isRare ? 'rare-7' : `label-${index % 100}`,
      output: { passed: index % 2 === 0, text: 'x'.repeat(300) },
    }),
    annotation_ref: null,
    runnable_ref: null,
    call_ref: null,
    trigger_ref: `weave:///acme/app/object/mon:v${index % 300}`,
    queue_id: null,
    scorer_tags: [],
    scorer_tag_reasons: {},
    scorer_tag_confidences: {},
    scorer_ratings: {},
    scorer_rating_reasons: {},
    scorer_rating_confidences: {},
    span_agent_name: '',
    span_agent_version: '',
    span_status_code: 'UNSET',
    span_conversation_id: '',
    span_trace_id: '',
    scorer_trace_id: '',
  };
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}
