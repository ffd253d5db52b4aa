// A PostgreSQL whose operator has chosen another form of dates than ISO 8601.

import { feedbackRow, toRecord } from '@ortler/feedback-query/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openFeedback } from '../../src/stores/feedback/open-feedback.ts';
import { DATABASE_HOOK_TIMEOUT_MS, describeOnEveryDatabase } from '../databases.ts';

describeOnEveryDatabase('payload samples of a database with dates of its own form', ({ name, open }) => {
  // The form is that of a session, and PGlite has one.
  it.runIf(name === 'pglite')(
    'have the newest row of each ref',
    async () => {
      const database = await open();
      await sql`set datestyle = 'SQL, DMY'`.execute(database.db);
      try {
        const { store } = await openFeedback(database, { dataDir: '', queryTimeLimitMs: 0 });
        const rows = [
          { id: 'old', payload: { old: 1 }, created_at: '2026-01-31T00:00:00.000Z' },
          { id: 'new', payload: { new: 1 }, created_at: '2026-02-01T00:00:00.000Z' },
        ];
        await store.insert(rows.map(row => toRecord(feedbackRow({ ...row, trigger_ref: 'r' }))));
        const [first] = rows.map(row => feedbackRow(row));
        const samples = store.samplePayloads({
          projectId: first!.project_id,
          startMs: 0,
          endMs: Date.parse('2027-01-01'),
          feedbackType: null,
          triggerRef: null,
          sampleLimit: 10,
        });
        const payloads: string[] = [];
        for await (const some of samples) payloads.push(...some);
        expect(payloads).toEqual(['{"new":1}']);
      } finally {
        await sql`reset datestyle`.execute(database.db);
        await database.close();
      }
    },
    DATABASE_HOOK_TIMEOUT_MS,
  );
});
