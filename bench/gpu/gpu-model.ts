// A model of the benchmark: random weights of a shape, built for a device or the CPU, and what it takes.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createEngine, type Engine } from '@ortler/engine';
import { MANIFEST_FILE } from '@ortler/engine/graph-contract';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import type { OrtDevice } from '@ortler/onnxruntime';
import { CONTEXT_LENGTH, type GpuShape } from './gpu-shapes.ts';

export type GpuPrecision = 'f16' | 'q8' | 'q4';

/** How a graph is built and run: settings that a real GPU decides. */
export interface GpuVariation {
  /** Products round activations to 8 bits, where weights are quantised. */
  readonly roundsActivations: boolean;
}

export interface BuiltModels {
  readonly sourceDir: string;
  /** For the device. */
  readonly deviceDir: string;
  /** Bytes of the device's graph with its weights. */
  readonly weightBytes: number;
}

/** Writes the checkpoint, unless it is there from another precision, and builds it for a device. */
export async function buildForDevice(
  folder: string,
  shape: GpuShape,
  precision: GpuPrecision,
  variation: GpuVariation,
): Promise<BuiltModels> {
  const sourceDir = join(folder, shape.name);
  const roundsActivations = variation.roundsActivations && precision !== 'f16';
  const kind = roundsActivations ? `${precision}-rounded` : precision;
  const deviceDir = join(folder, `${shape.name}-paged-${kind}`);
  if (!(await exists(join(sourceDir, 'config.json')))) {
    console.error(`writing random weights of ${shape.name} ...`);
    await createTinyCheckpoint(sourceDir, {
      modelType: shape.modelType,
      weightType: 'BF16',
      config: shape.config,
    });
  }
  if (!(await exists(join(deviceDir, MANIFEST_FILE)))) {
    console.error(`building ${shape.name} in ${kind} ...`);
    await buildModel({ sourceDir, outputDir: deviceDir, variant: 'paged', precision, roundsActivations });
  }
  return { sourceDir, deviceDir, weightBytes: await folderBytes(deviceDir) };
}

/** The same checkpoint for the CPU: what the device is compared with. */
export async function buildForProcessor(
  folder: string,
  shape: GpuShape,
  precision: GpuPrecision,
): Promise<string> {
  const outputDir = join(folder, `${shape.name}-slots-${precision}`);
  const sourceDir = join(folder, shape.name);
  if (!(await exists(join(outputDir, MANIFEST_FILE)))) {
    const exact = precision === 'f16' ? 'f32' : precision;
    await buildModel({ sourceDir, outputDir, variant: 'slots', precision: exact });
  }
  return outputDir;
}

/** The engine in a process of its own, as a server runs it. */
export function startEngine(modelDir: string, device: OrtDevice, maxSequences: number): Promise<Engine> {
  return createEngine({
    modelDir,
    link: 'process',
    device,
    maxSequences,
    contextLength: CONTEXT_LENGTH,
    prefixCaching: false,
    tuning: { speculativeDecoding: 'off' },
  });
}

async function exists(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

async function folderBytes(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter(name => !name.endsWith('.json'));
  const sizes = await Promise.all(names.map(async name => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
