// A tiny model folder for the tests of this folder: built once per test file from a seeded checkpoint.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphVariant, KvType, Precision } from '@ortler/engine/graph-contract';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint, type TinyCheckpointOptions } from '@ortler/model-builder/testing';

export interface TinyModelFolder {
  readonly dir: string;
  remove(): Promise<void>;
}

export async function createTinyModelFolder(
  precision: Precision,
  options: TinyCheckpointOptions = {},
  { variant = 'kernels', kvType }: { readonly variant?: GraphVariant; readonly kvType?: KvType } = {},
): Promise<TinyModelFolder> {
  const root = await mkdtemp(join(tmpdir(), 'ortler-tiny-'));
  const sourceDir = join(root, 'checkpoint');
  const dir = join(root, 'model');
  await createTinyCheckpoint(sourceDir, options);
  await buildModel({ sourceDir, outputDir: dir, precision, variant, kvType });
  return { dir, remove: () => rm(root, { recursive: true, force: true }) };
}
