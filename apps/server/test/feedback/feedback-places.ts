// Runs the same tests on every place that can keep feedback: the databases of `databases.ts`, and ClickHouse's own engine
// behind its HTTP interface where TEST_PYTHON names a Python with chdb.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnnotationServices } from '@ortler/api';
import { findChdb, startChdb } from '@ortler/feedback-query/testing';
import { createJsonSchemaChecker } from '@ortler/structured-output';
import { describe } from 'vitest';
import type { ClickHouse } from '../../src/db/clickhouse/clickhouse.ts';
import { openClickHouse } from '../../src/db/clickhouse/open-clickhouse.ts';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open-database.ts';
import { createAnnotationStores } from '../../src/stores/feedback/annotations.ts';
import { type OpenFeedback, openFeedback } from '../../src/stores/feedback/open-feedback.ts';
import { describeOnEveryDatabase } from '../databases.ts';

/** Feedback of its own, empty. `close` removes it. */
export interface FeedbackPlace extends OpenFeedback {
  /** Specs and queues that annotations are checked with. */
  readonly annotations: AnnotationServices;
  /** Removes every row. */
  clear(): Promise<void>;
}

export interface FeedbackPlaceKind {
  readonly name: string;
  readonly open: (options?: { readonly queryTimeLimitMs?: number }) => Promise<FeedbackPlace>;
  /** Several connections work at the same time. */
  readonly isConcurrent: boolean;
}

/** Describes `body` once per place; where one is missing, the name of the skipped tests says why. */
export function describeOnEveryFeedbackPlace(name: string, body: (place: FeedbackPlaceKind) => void): void {
  describeOnEveryDatabase(name, ({ open, ...kind }) =>
    body({
      ...kind,
      async open(options) {
        const database = await open(options);
        const feedback = await openFeedback(database, { dataDir: '', queryTimeLimitMs: 0 });
        return {
          ...feedback,
          annotations: annotationsOn(database),
          async clear() {
            await database.db.deleteFrom('feedback').execute();
          },
          close: () => database.close(),
        };
      },
    }),
  );
  describeOnClickHouse(name, () =>
    body({
      name: 'clickhouse',
      open: async options => (await openOnClickHouse(options)).place,
      isConcurrent: true,
    }),
  );
}

/** One evaluator for all tests of a file; its worker ends with the process. */
const schemas = createJsonSchemaChecker();

function annotationsOn(database: Database): AnnotationServices {
  return { ...createAnnotationStores(database, Date.now), schemas };
}

/** The Python with chdb, if there is one. */
export const TEST_CHDB = findChdb();

/** Describes `body`, or skips it with the reason. */
export function describeOnClickHouse(name: string, body: () => void): void {
  const reason = TEST_CHDB === undefined ? ' (skipped: TEST_PYTHON names no Python with chdb)' : '';
  describe.skipIf(TEST_CHDB === undefined)(`${name} on clickhouse${reason}`, body);
}

/** Opens feedback on an engine of its own, and a second handle on that engine. */
export async function openOnClickHouse({
  queryTimeLimitMs = 30_000,
}: {
  readonly queryTimeLimitMs?: number;
} = {}): Promise<{ readonly place: FeedbackPlace; readonly raw: ClickHouse; readonly url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-clickhouse-'));
  const chdb = await startChdb(TEST_CHDB!, join(folder, 'clickhouse'));
  const dataDir = join(folder, 'data');
  const { url } = chdb;
  const database = await openDatabase({ dataDir, queryTimeLimitMs });
  const feedback = await openFeedback(database, { dataDir, clickhouseUrl: url, queryTimeLimitMs });
  const raw = await openClickHouse({ url, queryTimeLimitMs });
  const place: FeedbackPlace = {
    ...feedback,
    annotations: annotationsOn(database),
    clear: () => raw.command('TRUNCATE TABLE feedback'),
    async close() {
      await feedback.close();
      await raw.close();
      await database.close();
      await chdb.stop();
      await rm(folder, { recursive: true });
    },
  };
  return { place, raw, url };
}
