// What `ortler` says about the precision that `auto` chose, and what `ortler build --report` measures.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ORTLER } from '../support/server.ts';

const AUTO =
  'f32, because the checkpoint has 1 MiB: up to 256 MiB stay f32, up to 4 GiB become q8, larger ones q4';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-report-'));
  await createTinyCheckpoint(join(folder, 'tiny'));
});
afterAll(() => rm(folder, { recursive: true }));

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function build(...args: readonly string[]): Promise<Outcome> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ORTLER_')));
  return new Promise(resolve => {
    execFile(
      process.execPath,
      [...ORTLER, 'build', join(folder, 'tiny'), ...args],
      { env, cwd: folder },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

it('a build says which precision auto chose and why, and only then', async () => {
  expect((await build('--output', join(folder, 'auto'))).out).toContain(`\n${AUTO}\n`);
  const given = await build('--precision', 'q8', '--output', join(folder, 'given'));
  expect(given).toMatchObject({ code: 0, out: expect.not.stringContaining('because') });
});

it('a server says so in its messages and in its log', async () => {
  const models = ['--models', `tiny=${join(folder, 'tiny')}`, '--data-dir', join(folder, 'data')];
  const settings = ['--port', '0', '--api-key', 'a-key', '--log-level', 'info'];
  const args = [...ORTLER, 'serve', ...models, ...settings];
  const server = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  let [shown, logged] = ['', ''];
  server.stdout.on('data', text => (shown += String(text)));
  server.stderr.on('data', text => (logged += String(text)));
  await vi.waitFor(() => expect(shown).toContain('ready in'), { timeout: 60_000 });
  server.kill('SIGTERM');
  await once(server, 'exit');
  expect(shown).toContain(`model    tiny: built as ${AUTO}\n`);
  const lines = logged
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { readonly msg?: string });
  expect(lines.find(({ msg }) => msg === 'precision chosen')).toMatchObject({
    model: 'tiny',
    precision: 'f32',
    reason: expect.stringContaining('1 MiB'),
  });
});

it('a report has the error of each matrix, the size, and the perplexity on the default text', async () => {
  const reported = await build('--precision', 'q4', '--report', '--output', join(folder, 'reported'));
  expect(reported.code).toBe(0);
  const rows = [...reported.out.matchAll(/^(model\.\S+) +(q\S+) +(\d+\.\d\d) +(\d+\.\d\d) %$/gm)];
  // One table and two layers of six matrices.
  expect(rows).toHaveLength(13);
  for (const [, , , bits, error] of rows) {
    expect(Number(bits)).toBeGreaterThan(4);
    expect(Number(error)).toBeGreaterThan(0);
    expect(Number(error)).toBeLessThan(9);
  }
  expect(reported.out).toMatch(/^All 13 matrices: [4-9]\.\d\d bits per weight, 0\.\d MB$/m);
  const [, perplexity, tokens] = /^Perplexity: (\d+\.\d+) on ([\d,]+) tokens of the default text/m.exec(
    reported.out,
  )!;
  expect(Number(perplexity)).toBeGreaterThan(1);
  expect(Number(tokens!.replaceAll(',', ''))).toBeGreaterThan(1000);
  // A warning, because the model is small: the error of all matrices is between those of single ones.
  const [, loss] = /^Note: weights in 4 bits cost models below 1 B .+ are off by (\d+\.\d) %/m.exec(
    reported.out,
  )!;
  const all = rows.map(([, , , , error]) => Number(error));
  expect(Number(loss)).toBeGreaterThanOrEqual(Math.min(...all) - 0.3);
  expect(Number(loss)).toBeLessThanOrEqual(Math.max(...all) + 0.3);
  expect((await build('--precision', 'q8', '--output', join(folder, 'eight'))).out).not.toContain('Note:');
});

it('a report can be about another text, and float32 has no errors', async () => {
  const text = join(folder, 'text.txt');
  await writeFile(text, 'The first paragraph.\n\n\nThe second one.\n');
  const { out } = await build(
    ...['--precision', 'f32', '--report-text', text, '--output', join(folder, 'other')],
  );
  expect(out).toMatch(/^model\.layers\.1\.mlp\.down_proj\.weight +f32 +32\.00 +0\.00 %$/m);
  expect(out).toContain(`tokens of ${text}; lower is better`);
});

it('a report that cannot be made is refused before anything is built', async () => {
  const output = join(folder, 'refused');
  const absent = await build('--report-text', join(folder, 'absent.txt'), '--output', output);
  expect(absent.err).toBe(`${join(folder, 'absent.txt')} cannot be read, for --report-text.\n`);
  const gpu = await build('--report', '--device', 'gpu', '--output', output);
  expect(gpu.err).toBe('--report measures builds for the CPU; leave out --device gpu.\n');
  await writeFile(join(folder, 'empty.txt'), ' \n\n');
  const empty = await build('--report-text', join(folder, 'empty.txt'), '--output', output);
  expect(empty.err).toBe(`${join(folder, 'empty.txt')} holds no text, for --report-text.\n`);
  expect([absent.code, gpu.code, empty.code]).toEqual([1, 1, 1]);
  expect(await readdir(folder)).not.toContain('refused');
});
