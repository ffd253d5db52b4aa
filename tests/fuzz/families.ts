// Fuzz target: random configurations of the families that goldens exist for. A build gives the logits of transformers, or is
// refused; nothing is built and wrong. TEST_PYTHON names a Python with torch and transformers.

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildModel, ModelBuildError } from '@ortler/model-builder';
import { tinyTokenizerFiles } from '@ortler/model-builder/testing';
import { largestDifference, SlotsSession } from '../../packages/model-builder/test/slots-session.ts';

export interface FamiliesFuzzOptions {
  /** Configurations of each family. */
  readonly count: number;
  readonly seed: number;
  readonly families: readonly string[];
  readonly onLine: (line: string) => void;
}

interface Expected {
  readonly tokens: readonly number[];
  /** Row after row, one per token. */
  readonly logits: readonly number[];
}

const GOLDEN = join(import.meta.dirname, '../../packages/model-builder/test/golden');
const VARIANTS = ['kernels', 'slots'] as const;
/** Random configurations may give logits far from one, so differences are relative to the largest. */
const BOUND = 2e-4;
/** Unit: tokens. */
const CAPACITY = 128;

/** Returns how many builds are wrong. */
export async function fuzzFamilies({ count, seed, families, onLine }: FamiliesFuzzOptions): Promise<number> {
  const { TEST_PYTHON } = process.env;
  if (TEST_PYTHON === undefined) throw new Error('TEST_PYTHON names no Python with torch and transformers');
  const folder = await mkdtemp(join(tmpdir(), 'ortler-fuzz-'));
  let wrong = 0;
  try {
    for (const family of families) {
      const target = join(folder, family);
      const script = join(GOLDEN, 'fuzz_families.py');
      const options = { maxBuffer: 1 << 26 };
      await promisify(execFile)(TEST_PYTHON, [script, family, `${count}`, `${seed}`, target], options);
      const verdicts = new Map<string, number>();
      for (const name of (await readdir(target)).sort()) {
        for (const variant of VARIANTS) {
          const verdict = await judge(join(target, name), variant);
          const kind = verdict.split(':')[0]!;
          verdicts.set(kind, (verdicts.get(kind) ?? 0) + 1);
          if (kind === 'right') continue;
          onLine(`${family} ${name} ${variant} ${verdict}`);
          if (kind !== 'WRONG') continue;
          wrong++;
          onLine(await readFile(join(target, name, 'config.json'), 'utf8'));
        }
      }
      onLine(`${family}: ${[...verdicts].map(([kind, times]) => `${times} ${kind}`).join(', ')}`);
    }
    return wrong;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Families with a golden. */
export async function listFamilies(): Promise<string[]> {
  return (await readdir(join(GOLDEN, 'decoders'))).map(name => name.replace('.json', '')).sort();
}

/** `right`, `refused: why` or `WRONG: how`. */
async function judge(sourceDir: string, variant: (typeof VARIANTS)[number]): Promise<string> {
  const { tokenizer, tokenizerConfig } = tinyTokenizerFiles();
  await writeFile(join(sourceDir, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(sourceDir, 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
  const outputDir = join(sourceDir, variant);
  const expected = JSON.parse(await readFile(join(sourceDir, 'expected.json'), 'utf8')) as Expected;
  const contextLength = expected.tokens.length;
  try {
    await buildModel({ sourceDir, outputDir, precision: 'f32', variant, contextLength });
  } catch (error) {
    if (!(error instanceof ModelBuildError)) return `WRONG: the build failed: ${error}`;
    const message = error.message.replaceAll(`${sourceDir}/`, '');
    // Others are about tensors, and transformers has written those.
    return ['unsupported', 'config_invalid'].includes(error.code)
      ? `refused: ${message}`
      : `WRONG: refused as ${error.code}: ${message}`;
  }
  const session = await SlotsSession.open(outputDir, { capacity: CAPACITY });
  const rows = await session.run([expected.tokens], [0]);
  await session.close();
  const all = rows.flatMap(row => Array.from(row));
  const scale = expected.logits.reduce((largest, logit) => Math.max(largest, Math.abs(logit)), 1);
  const difference = largestDifference(all, expected.logits) / scale;
  return difference < BOUND ? 'right' : `WRONG: a logit differs by ${difference}`;
}
