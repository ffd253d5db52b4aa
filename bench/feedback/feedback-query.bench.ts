// How long feedback queries take on a table of many rows, and how long /health takes while one scans them all. On SQLite, on
// the PostgreSQL of DATABASE_URL, or with feedback in the ClickHouse of CLICKHOUSE_URL.
//
//     npm run bench -- feedback-query --rows 1000000
//     npm run bench -- feedback-query --data rows --fill && npm run bench -- feedback-query --data rows

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bindFeedbackQuery, type FeedbackQuery, PayloadPathCollector } from '@ortler/feedback-query';
import { feedbackRow, toRecord } from '@ortler/feedback-query/testing';
import { type OpenFeedback, openDatabase, openFeedback } from '@ortler/server/feedback';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';
import { probeHealth } from './probe-health.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '7' },
    data: { type: 'string' },
    fill: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});
const PROJECT = 'acme/app';
const BATCH_SIZE = 1_000;
/** Refs of the rows; each gives one payload to a payload schema. */
const REF_COUNT = 3_000;
const TIME_LIMIT_MS = 600_000;
const MAX_BYTES = 4 * 1024 * 1024;
const LABEL_INDEX = { path: 'payload.label', reading: 'text' } as const;
const rowCount = Number(values.rows);
const roundCount = Number(values.rounds);

const newest = [{ field: 'created_at', direction: 'desc' as const }];
const compare = (operator: '$gt' | '$eq', field: string, value: string | number) => ({
  $expr: { [operator]: [{ $getField: field }, { $literal: value }] },
});
const RARE = { query: compare('$eq', 'payload.label', 'rare-7'), limit: 100 };
const QUERIES: Readonly<Record<string, Partial<FeedbackQuery>>> = {
  'newest 100 above a score': { query: compare('$gt', 'payload.score', 0.5), sortBy: newest, limit: 100 },
  'full scan for a rare label': RARE,
  'count above a score': { query: compare('$gt', 'payload.score', 0.5), fields: ['count(*)'] },
  'one row by id': { query: compare('$eq', 'id', idOf(rowCount >> 1)) },
  'page of 50 in the middle': { limit: 50, after: [isoOf(rowCount >> 1), idOf(rowCount >> 1)] },
};

if (values.help === true)
  console.log(
    'Options: --rows <number>, --rounds <number>, --data <folder to keep>, --fill to stop there; DATABASE_URL, CLICKHOUSE_URL.',
  );
else await main();

async function main(): Promise<void> {
  const dataDir = values.data ?? (await mkdtemp(join(tmpdir(), 'ortler-bench-feedback-')));
  const databaseUrl = process.env.DATABASE_URL;
  const clickhouseUrl = process.env.CLICKHOUSE_URL;
  const database = await openDatabase({ dataDir, databaseUrl, queryTimeLimitMs: TIME_LIMIT_MS });
  const feedback = await openFeedback(database, { dataDir, clickhouseUrl, queryTimeLimitMs: TIME_LIMIT_MS });
  const place = clickhouseUrl === undefined ? database.kind : 'clickhouse';
  try {
    const insertMs = await fill(feedback);
    if (insertMs !== undefined) console.log(JSON.stringify({ place, rowCount, insertMs }));
    if (values.fill) return;
    await feedback.indexes.drop(LABEL_INDEX);
    const before = await measure(feedback, QUERIES);
    const schema = await measureSchema(feedback);
    const health = await probeHealth({
      dataDir,
      body: { project_id: PROJECT, ...RARE, fields: ['id'] },
      queryCount: roundCount,
    });
    const indexStart = performance.now();
    await feedback.indexes.create(LABEL_INDEX);
    const indexMs = Math.round(performance.now() - indexStart);
    const indexed = await measure(feedback, { 'rare label by its index': RARE });
    console.log(
      JSON.stringify(
        {
          bench: 'feedback-query',
          place,
          rowCount,
          ...before,
          ...schema,
          indexMs,
          ...indexed,
          health,
          ...describeMachine(),
        },
        null,
        2,
      ),
    );
  } finally {
    await feedback.close();
    await database.close();
    if (values.data === undefined) await rm(dataDir, { recursive: true });
  }
}

/** Stores what is not stored yet. Gives the time of it; undefined when everything was there. */
async function fill({ store }: OpenFeedback): Promise<number | undefined> {
  const count = bindFeedbackQuery({ projectId: PROJECT, fields: ['count(*)'] });
  const { rows } = await store.query(count, { maxBytes: MAX_BYTES });
  const [row] = JSON.parse(new TextDecoder().decode(rows));
  const stored = Number(row['count(*)']);
  if (stored >= rowCount) return undefined;
  const start = performance.now();
  for (let first = stored; first < rowCount; first += BATCH_SIZE)
    await store.insert(
      Array.from({ length: Math.min(BATCH_SIZE, rowCount - first) }, (_, index) => recordOf(first + index)),
    );
  return Math.round(performance.now() - start);
}

async function measure({ store }: OpenFeedback, queries: Readonly<Record<string, Partial<FeedbackQuery>>>) {
  const result: Record<string, { readonly medianMs: number; readonly rows: number }> = {};
  for (const [name, parts] of Object.entries(queries)) {
    const query = bindFeedbackQuery({ projectId: PROJECT, fields: ['id'], ...parts });
    result[name] = await repeat(async () => (await store.query(query, { maxBytes: MAX_BYTES })).rowCount);
  }
  return result;
}

async function measureSchema({ store }: OpenFeedback) {
  const query = { projectId: PROJECT, startMs: 0, endMs: 2e12, sampleLimit: 2_000 };
  return {
    'payload schema of 2,000 refs': await repeat(async () => {
      const collector = new PayloadPathCollector();
      for await (const payloads of store.samplePayloads(query))
        for (const payload of payloads) collector.add(payload);
      return collector.paths().length;
    }),
  };
}

async function repeat(work: () => Promise<number>) {
  const times: number[] = [];
  let rows = 0;
  for (let round = 0; round < roundCount; round++) {
    const start = performance.now();
    rows = await work();
    times.push(performance.now() - start);
  }
  return { medianMs: Math.round(median(times) * 10) / 10, rows };
}

function recordOf(index: number) {
  return toRecord(
    feedbackRow({
      id: idOf(index),
      project_id: PROJECT,
      weave_ref: `weave:///acme/app/call/${index % 50_000}`,
      wb_user_id: 'bench',
      created_at: isoOf(index),
      feedback_type: `custom.t${index % 20}`,
      payload: {
        score: (index % 1_000) / 1_000,
        label: index % 100_000 === 7 ? 'rare-7' : `label-${index % 100}`,
        output: { passed: index % 2 === 0, text: 'x'.repeat(300) },
      },
      trigger_ref: `weave:///acme/app/object/mon:v${index % REF_COUNT}`,
    }),
  );
}

function idOf(index: number): string {
  return `row-${String(index).padStart(9, '0')}`;
}

function isoOf(index: number): string {
  return new Date(1_760_000_000_000 + index * 100).toISOString();
}
