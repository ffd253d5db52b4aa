// Time and peak memory of building a 0.5 B-shaped checkpoint in each precision, and of a decode step after it. The
// checkpoint (Qwen2.5-0.5B's shape, random BF16 weights, about 1 GB) is written to a temporary folder first and removed at
// the end. Each build and each run has a process of its own, so that peaks do not mix.

import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Precision } from '@ortler/engine/graph-contract';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { MODEL_SHAPES } from '../model-shapes.ts';
import { measureDecode } from './measure-decode.ts';

const PRECISIONS: readonly Precision[] = ['f32', 'q8', 'q4'];

const CONTEXT_LENGTH = 32_768;

/** A peak above this fails the benchmark: it would follow the size of the model. Unit: MiB. */
const PEAK_LIMIT_MEBIBYTES = 400;

const MEBIBYTE = 1 << 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'separate-head': { type: 'boolean', default: false },
    precision: { type: 'string', multiple: true, default: [...PRECISIONS] },
    help: { type: 'boolean', default: false },
  },
});

const [task, sourceDir, outputDir, precision] = positionals;
if (values.help)
  report('npm run bench -- build-memory [--separate-head] [--precision f32|q8|q4, all if none]');
else if (task === 'build') await build(sourceDir!, outputDir!, precision as Precision);
else if (task === 'decode') report(await measureDecode(sourceDir!));
else await main();

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-bench-'));
  try {
    const source = join(folder, 'checkpoint');
    const { modelType, config } = MODEL_SHAPES['qwen2.5-0.5b'];
    await createTinyCheckpoint(source, {
      modelType,
      weightType: 'BF16',
      config: {
        ...config,
        max_position_embeddings: CONTEXT_LENGTH,
        tie_word_embeddings: !values['separate-head'],
      },
    });
    console.log(`checkpoint: ${await folderMebibytes(source)} MiB`);
    for (const name of values.precision) {
      const output = join(folder, name);
      const built = inOwnProcess('build', source, output, name);
      const decoded = inOwnProcess('decode', output);
      console.log(`${name}: ${built}; ${await folderMebibytes(output)} MiB on disk; ${decoded}`);
      await rm(output, { recursive: true });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function build(source: string, output: string, as: Precision): Promise<void> {
  const start = performance.now();
  await buildModel({ sourceDir: source, outputDir: output, precision: as });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const { maxRSS, userCPUTime } = process.resourceUsage();
  // The system reports the peak in kibibytes and the time in microseconds.
  const peak = Math.round(maxRSS / 1024);
  const busy = (userCPUTime / 1e6).toFixed(1);
  if (peak > PEAK_LIMIT_MEBIBYTES) throw new Error(`the build of ${as} took ${peak} MiB of memory`);
  report(`built in ${seconds} s, ${busy} s of a core, peak ${peak} MiB`);
}

function inOwnProcess(...args: readonly string[]): string {
  const script = fileURLToPath(import.meta.url);
  return execFileSync(process.execPath, ['--conditions=@ortler/source', script, ...args], {
    encoding: 'utf8',
  }).trim();
}

function report(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function folderMebibytes(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async name => (await stat(join(folder, name))).size));
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / MEBIBYTE);
}
