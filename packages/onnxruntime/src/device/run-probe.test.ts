import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProbe } from './run-probe.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-probe-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function entry(name: string, code: string) {
  const file = join(folder, `${name}.mjs`);
  await writeFile(file, code);
  return { url: pathToFileURL(file), execArgv: [] };
}

describe('runProbe', () => {
  it('gives what the child found', async () => {
    const found = await entry('works', "process.send({ kind: 'works', facts: { device: process.argv[2] } })");
    expect(await runProbe('webgpu', { entry: found })).toEqual({
      kind: 'works',
      facts: { device: 'webgpu' },
    });
  });

  it('survives a driver that crashes', async () => {
    const crash = await entry('crash', "process.kill(process.pid, 'SIGSEGV')");
    expect(await runProbe('webgpu', { entry: crash })).toEqual({
      kind: 'fails',
      reason: expect.stringContaining('SIGSEGV'),
    });
  });

  it('ends a driver that never answers', async () => {
    const hang = await entry('hang', 'for (;;);');
    expect(await runProbe('webgpu', { entry: hang, timeLimitMs: 300 })).toEqual({
      kind: 'fails',
      reason: 'The device "webgpu" did not answer within 0.3 s.',
    });
  });

  it('reports what CUDA lacks here, or that it works', async () => {
    const report = await runProbe('cuda');
    if (report.kind === 'fails') expect(report.reason).toMatch(/CUDA|cuda/);
    else expect(report.facts.device).toBe('cuda');
  });
});
