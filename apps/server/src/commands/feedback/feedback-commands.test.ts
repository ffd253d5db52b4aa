import { appendFile, copyFile, mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChdb, toRecord, VECTOR_ROWS } from '@ortler/feedback-query/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canMountDisk, mountDisk } from '../../../../../tests/support/small-disk.ts';
import { PROJECT } from '../../../test/feedback/feedback-app.ts';
import { TEST_CHDB } from '../../../test/feedback/feedback-places.ts';
import { readConfig } from '../../config/config.ts';
import { openDatabase } from '../../db/open-database.ts';
import { createFeedbackStore } from '../../stores/feedback/feedback-store.ts';
import type { Terminal } from '../terminal.ts';
import { UserError } from '../user-error.ts';
import { exportFeedback } from './export-feedback.ts';
import { importFeedback } from './import-feedback.ts';
import { indexFeedback } from './index-feedback.ts';

const terminal: Terminal = { out: () => undefined, err: () => undefined, isScreen: false };
let folder: string;
let file: string;
const configOf = (name: string) => readConfig({ ORTLER_DATA_DIR: join(folder, name) });
const importing = { projectId: undefined, fromLine: 1, userId: 'import', now: () => 0 };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-feedback-'));
  file = join(folder, 'feedback.jsonl');
  const database = await openDatabase(configOf('first'));
  const many = Array.from({ length: 200 }, (_, index) => ({ ...VECTOR_ROWS[2]!, id: `many${index}` }));
  await createFeedbackStore(database).insert([...VECTOR_ROWS, ...many].map(toRecord));
  await database.close();
}, 60_000);
afterAll(() => rm(folder, { recursive: true }));

it('exports every row of a project, and imports them unchanged', async () => {
  expect(await exportFeedback(configOf('first'), { projectId: PROJECT, file, resume: false }, terminal)).toBe(
    209,
  );
  const lines: string[] = [];
  const recording = { ...terminal, err: (text: string) => void lines.push(text) };
  expect(await importFeedback(configOf('second'), { ...importing, file }, recording)).toBe(209);
  expect(await importFeedback(configOf('second'), { ...importing, file }, recording)).toBe(0);
  expect(lines).toEqual(['  imported 209 rows\n', '  imported 0 rows; 209 were stored before\n']);
  const copy = join(folder, 'copy.jsonl');
  await exportFeedback(configOf('second'), { projectId: PROJECT, file: copy, resume: false }, terminal);
  expect(await readFile(copy, 'utf8')).toBe(await readFile(file, 'utf8'));
}, 60_000);

it('imports texts with line separators of Unicode, and lines that end with CRLF', async () => {
  const rows = join(folder, 'separators.jsonl');
  const line = (id: string) =>
    JSON.stringify({
      id,
      weave_ref: 'weave:///x',
      feedback_type: 'custom',
      payload: { a: 'b\u2028c\u2029\u0085' },
    });
  await writeFile(rows, `${line('s1')}\r\n${line('s2')}`);
  const options = { ...importing, file: rows, projectId: 'acme/separators' };
  expect(await importFeedback(configOf('separators'), options, terminal)).toBe(2);
  const copy = join(folder, 'separators-copy.jsonl');
  const exported = { projectId: 'acme/separators', file: copy, resume: false };
  await exportFeedback(configOf('separators'), exported, terminal);
  expect(await importFeedback(configOf('separators'), { ...importing, file: copy }, terminal)).toBe(0);
}, 60_000);

it.skipIf(!canMountDisk)(
  'says when the disk of an export is full, and resumes it',
  async () => {
    const disk = join(folder, 'disk');
    await mkdir(disk);
    const unmount = mountDisk(disk, '64k');
    try {
      const onDisk = join(disk, 'feedback.jsonl');
      const exporting = exportFeedback(
        configOf('first'),
        { projectId: PROJECT, file: onDisk, resume: false },
        terminal,
      );
      await expect(exporting).rejects.toThrow(UserError);
      const moved = join(folder, 'moved.jsonl');
      await copyFile(onDisk, moved);
      await exportFeedback(configOf('first'), { projectId: PROJECT, file: moved, resume: true }, terminal);
      expect(await readFile(moved, 'utf8')).toBe(await readFile(file, 'utf8'));
    } finally {
      unmount();
    }
  },
  60_000,
);

it.skipIf(TEST_CHDB === undefined)(
  `imports into ClickHouse and exports the same${TEST_CHDB === undefined ? ' (skipped: TEST_PYTHON names no Python with chdb)' : ''}`,
  async () => {
    const chdb = await startChdb(TEST_CHDB!, join(folder, 'clickhouse'));
    const config = readConfig({ ORTLER_DATA_DIR: join(folder, 'beside'), CLICKHOUSE_URL: chdb.url });
    for (const newCount of [209, 0])
      expect(await importFeedback(config, { ...importing, file }, terminal)).toBe(newCount);
    const copy = join(folder, 'clickhouse.jsonl');
    await exportFeedback(config, { projectId: PROJECT, file: copy, resume: false }, terminal);
    expect(await readFile(copy, 'utf8')).toBe(await readFile(file, 'utf8'));
    await chdb.stop();
  },
  60_000,
);

it('resumes an interrupted export, and never overwrites one', async () => {
  const whole = await readFile(file, 'utf8');
  const cut = join(folder, 'cut.jsonl');
  const options = { projectId: PROJECT, file: cut };
  for (const length of [0, 10, whole.length / 2]) {
    await writeFile(cut, whole);
    await truncate(cut, Math.floor(length));
    await exportFeedback(configOf('first'), { ...options, resume: true }, terminal);
    expect(await readFile(cut, 'utf8')).toBe(whole);
  }
  await expect(exportFeedback(configOf('first'), { ...options, resume: false }, terminal)).rejects.toThrow(
    '--resume',
  );
}, 60_000);

it('resumes after a row of any size, and changes no file that is not an export', async () => {
  const rows = join(folder, 'large-rows.jsonl');
  const line = (id: string, length: number) =>
    JSON.stringify({
      id,
      created_at: '2026-01-01T00:00:00Z',
      weave_ref: 'weave:///x',
      feedback_type: 'wandb.agent_user_feedback',
      payload: {},
      scorer_tags: ['good'],
      scorer_tag_reasons: { good: 'é'.repeat(length) },
    });
  await writeFile(rows, `${line('a', 10)}\n${line('b', 2_200_000)}\n${line('c', 10)}\n`);
  const project = { projectId: 'acme/large', file: rows };
  expect(await importFeedback(configOf('large'), { ...importing, ...project }, terminal)).toBe(3);
  const whole = join(folder, 'large-whole.jsonl');
  await exportFeedback(configOf('large'), { ...project, file: whole, resume: false }, terminal);
  const exported = await readFile(whole);
  const cut = join(folder, 'large-cut.jsonl');
  const resume = () => exportFeedback(configOf('large'), { ...project, file: cut, resume: true }, terminal);
  const large = exported.indexOf('\n', exported.indexOf('\n') + 1);
  // After the large row, in the row after it, and within it.
  for (const length of [large + 1, large + 20, large - 5]) {
    await writeFile(cut, exported.subarray(0, length));
    await resume();
    expect((await readFile(cut)).equals(exported)).toBe(true);
  }
  for (const text of ['not an export', 'id,created_at\na,b\nc', '[1]\n{"id":', 'null\n']) {
    await writeFile(cut, text);
    await expect(resume()).rejects.toThrow('large-cut.jsonl does not end with a row of an export');
    expect(await readFile(cut, 'utf8')).toBe(text);
  }
}, 60_000);

it.each([
  ['a file that is missing', 'missing.jsonl', 'missing.jsonl cannot be read: there is no such file.'],
  ['a folder', '.', 'cannot be read: it is a folder.'],
])('says what is wrong with %s', async (_, name, message) => {
  const options = { ...importing, file: join(folder, name), projectId: 'acme/new' };
  await expect(importFeedback(configOf('none'), options, terminal)).rejects.toThrow(message);
});

it('names the line that is wrong and keeps what came before', async () => {
  const rows = join(folder, 'rows.jsonl');
  const line = JSON.stringify({ weave_ref: 'weave:///x', feedback_type: 'custom', payload: { a: 1 } });
  await writeFile(rows, `${line}\n${line}\n`);
  const options = { ...importing, file: rows, projectId: 'acme/new' };
  // Rows without an id are stored once each, however often the file is imported.
  for (let time = 0; time < 2; time++) await importFeedback(configOf('third'), options, terminal);
  await appendFile(rows, '{"weave_ref": 1}\n');
  await expect(importFeedback(configOf('third'), options, terminal)).rejects.toThrow(/^Line 3: /);
  const copy = join(folder, 'third.jsonl');
  const count = await exportFeedback(
    configOf('third'),
    { projectId: 'acme/new', file: copy, resume: false },
    terminal,
  );
  expect(count).toBe(2);
}, 60_000);

it('says why a path cannot be indexed', async () => {
  const index = { path: 'id', reading: 'text', drop: false } as const;
  await expect(indexFeedback(configOf('third'), index, terminal)).rejects.toThrow('payload path');
}, 60_000);
