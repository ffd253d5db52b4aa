// What `ortler inspect` says that a sequence takes, beside what an engine reserves for it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCore } from '@ortler/engine/testing';
import { buildModel, describeModel, estimateMemory } from '@ortler/model-builder';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DECODER_GOLDENS, writeGoldenCheckpoint } from '../../packages/model-builder/test/decoder-golden.ts';

const CONTEXT_LENGTH = 200;
const BOUND = 0.1;

const CASES = [
  'lfm2',
  'lfm2_moe',
  'qwen3_5_text',
  'qwen3_5_moe_text',
  'qwen3_next',
  'granitemoehybrid',
  'falcon_h1',
  'nemotron_h',
].flatMap(family =>
  DECODER_GOLDENS.find(golden => golden.family === family)!.cases.map(golden => ({ family, golden })),
);

describe.each(CASES)('$family, $golden.name', ({ golden }) => {
  let root: string;
  let modelDir: string;
  let source: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ortler-bytes-'));
    [source, modelDir] = [join(root, 'source'), join(root, 'model')];
    await writeGoldenCheckpoint(source, golden);
    await buildModel({
      sourceDir: source,
      outputDir: modelDir,
      precision: 'q8',
      variant: 'kernels',
      kvType: 'float16',
    });
  });

  afterAll(() => rm(root, { recursive: true, force: true }));

  const reserved = async (maxSequences: number, prefixCaching: boolean) => {
    const core = await loadCore({
      modelDir,
      device: 'cpu',
      threadCount: 1,
      maxSequences,
      contextLength: CONTEXT_LENGTH,
      prefixCaching,
      tuning: { backend: 'native', speculativeDecoding: 'off', ...(prefixCaching && { cacheSlots: 0 }) },
    });
    await core.close();
    return core.facts.cacheBytes;
  };

  const estimated = async (folder: string) => {
    const options = { variant: 'kernels', kvType: 'float16', contextLength: CONTEXT_LENGTH } as const;
    const rows = estimateMemory(await describeModel(folder, options), options);
    return rows.find(({ precision }) => precision === 'q8')!.cacheBytes;
  };

  it('takes for each sequence more what is estimated from the checkpoint and from the build, within a tenth', async () => {
    const one = await reserved(1, false);
    const each = ((await reserved(4, false)) - one) / 3;
    for (const folder of [source, modelDir]) {
      const estimate = await estimated(folder);
      expect(Math.abs(estimate / each - 1), `${estimate} bytes, reserved are ${each}`).toBeLessThan(BOUND);
    }
  });

  it('reserves the states of cached prompts with prefix caching only', async () => {
    const [without, with_] = [await reserved(2, false), await reserved(2, true)];
    expect(with_).toBeGreaterThan(without);
  });
});
