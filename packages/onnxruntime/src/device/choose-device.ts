// Chooses the device of a model: the one that was requested, after a probe, or with `auto` a real GPU where one works. Hosts
// call it before they build a model, because a graph is built for its device.

import { readdirSync } from 'node:fs';
import type { OrtDevice, OrtDeviceFacts } from '../backend.ts';
import { OrtError } from '../errors.ts';
import { findOrtLibrary } from '../find-library.ts';
import { runProbe } from './run-probe.ts';

export interface DeviceChoice {
  readonly device: OrtDevice;
  /** Absent where nothing was probed, such as for `cpu`. */
  readonly facts?: OrtDeviceFacts;
  /** Why `auto` settled for the CPU. */
  readonly note?: string;
  /** A GPU is present that could not be used: worth a warning. */
  readonly isFallback?: boolean;
}

/** Inputs of the choice; tests replace them. */
export interface DeviceDependencies {
  /** Throws: where this machine has no ONNX Runtime. */
  readonly findRuntime: () => unknown;
  readonly hasGraphicsDevice: () => boolean;
  readonly probe: typeof runProbe;
}

/** Device files of GPUs on Linux: render nodes, NVIDIA's, Windows' own under WSL. */
const GPU_FILES = /^(nvidia\d+|dxg|kgsl-3d0|mali\d+)$/;

const DEVICES: readonly ('auto' | OrtDevice)[] = ['auto', 'cpu', 'webgpu', 'cuda'];

/**
 * `auto` takes WebGPU where a child process could compute on a real GPU with it, else the CPU, with a note. Without
 * a graphics device nothing is started. A software driver counts only for `webgpu`.
 * Throws: `runtime_failed` when the device asked for by name does not exist or cannot be used, with the reason, and on a
 * machine without ONNX Runtime, before a model is downloaded or built for it.
 */
export async function chooseDevice(
  wanted: 'auto' | OrtDevice,
  { findRuntime, hasGraphicsDevice, probe }: DeviceDependencies = {
    findRuntime: findOrtLibrary,
    hasGraphicsDevice: findGraphicsDevice,
    probe: runProbe,
  },
): Promise<DeviceChoice> {
  if (!DEVICES.includes(wanted))
    throw new OrtError('runtime_failed', `The device must be auto, cpu, webgpu or cuda; got ${wanted}.`);
  try {
    findRuntime();
  } catch (cause) {
    throw new OrtError('runtime_failed', (cause as Error).message, { cause });
  }
  if (wanted === 'cpu') return { device: 'cpu' };
  if (wanted !== 'auto') {
    const report = await probe(wanted);
    if (report.kind === 'fails') throw new OrtError('runtime_failed', report.reason);
    return { device: wanted, facts: report.facts };
  }
  if (!hasGraphicsDevice()) return { device: 'cpu', note: 'This machine has no graphics device.' };
  const report = await probe('webgpu');
  if (report.kind === 'fails')
    return { device: 'cpu', note: `The GPU cannot be used: ${report.reason}`, isFallback: true };
  const { facts } = report;
  if (facts.isSoftware === true) {
    const note = `The only graphics driver is in software (${facts.name}), which is slower than the CPU itself.`;
    return { device: 'cpu', note };
  }
  return { device: 'webgpu', facts };
}

/** Other systems than Linux mostly have one: only a probe decides. */
function findGraphicsDevice(): boolean {
  if (process.platform !== 'linux') return true;
  return listFolder('/dev/dri').some(name => name.startsWith('render')) || listFolder('/dev').some(isGpuFile);
}

function isGpuFile(name: string): boolean {
  return GPU_FILES.test(name);
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
