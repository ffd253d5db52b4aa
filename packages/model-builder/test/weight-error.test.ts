// The error of weights that a manifest has, beside the errors that a report measures on what was written.

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildModel } from '../src/build-model.ts';
import { explainLoss } from '../src/explain-loss.ts';
import { createTinyCheckpoint } from '../src/testing/tiny-model.ts';
import type { WrittenMatrix } from '../src/weights/written-matrix.ts';
import { temporaryFolder } from './temporary-folder.ts';

const folder = temporaryFolder();

it('of a build in q4 is the mean of what was written, and a small model says so', async () => {
  const sourceDir = join(folder, 'source');
  await createTinyCheckpoint(sourceDir);
  const outputDir = join(folder, 'q4');
  const matrices: WrittenMatrix[] = [];
  const options = { sourceDir, outputDir, precision: 'q4' } as const;
  const { weightError } = await buildModel({ ...options, onMatrix: matrix => matrices.push(matrix) });
  const errors = matrices.map(({ relativeError }) => relativeError);
  expect(weightError).toBeGreaterThan(Math.min(...errors));
  expect(weightError).toBeLessThan(Math.max(...errors));
  const percent = (100 * weightError!).toFixed(1);
  expect(await explainLoss(outputDir)).toContain(`those of this build are off by ${percent} %`);
});

it('of other precisions is not measured, and nothing is said', async () => {
  const sourceDir = join(folder, 'other');
  await createTinyCheckpoint(sourceDir);
  const outputDir = join(folder, 'q8');
  const manifest = await buildModel({ sourceDir, outputDir, precision: 'q8' });
  expect(manifest).not.toHaveProperty('weightError');
  expect(await explainLoss(outputDir)).toBeUndefined();
  expect(await explainLoss(sourceDir)).toBeUndefined();
});
