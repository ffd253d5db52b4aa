// Checks of the machine for `ortler doctor`: versions, memory, ONNX Runtime, CPU kernels, device.

import { freemem, totalmem } from 'node:os';
import { formatBytes } from '@ortler/hub';
import { chooseDevice, probeKernels, selectBackend } from '@ortler/onnxruntime';
import type { Config } from '../../config/config.ts';
import { ownCommand } from '../../system/own-command.ts';
import { VERSION } from '../../system/version.ts';
import type { Finding } from './finding.ts';

/** Less than this leaves no room for more than the smallest models. */
const LOW_MEMORY_BYTES = 1024 ** 3;

/** @param versions As a runtime tells them: Bun and Deno also name the version of Node that they imitate. */
export function checkVersions(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): Finding {
  const other = Object.entries({ Bun: versions.bun, Deno: versions.deno }).find(([, version]) => version);
  const runtime = (other ?? ['Node', versions.node]).join(' ');
  const detail = `Ortler ${VERSION}, ${runtime}, ${process.platform}-${process.arch}`;
  if (other === undefined) return { subject: 'versions', state: 'ok', detail };
  const remedy =
    'run it on Node: other runtimes are not tested, and limit no memory of the threads that run templates and schemas of callers';
  return { subject: 'versions', state: 'warning', detail, remedy };
}

export function checkMemory(): Finding {
  const detail = `${formatBytes(freemem())} of ${formatBytes(totalmem())} are free`;
  if (freemem() >= LOW_MEMORY_BYTES) return { subject: 'memory', state: 'ok', detail };
  const remedy = `\`${ownCommand('inspect MODEL')}\` says what a model takes; end other programs, or take a smaller --precision`;
  return { subject: 'memory', state: 'warning', detail, remedy };
}

export async function checkLibrary(): Promise<Finding> {
  const subject = 'ONNX Runtime';
  try {
    const { backend, note } = await selectBackend('auto');
    const detail = `version ${backend.version}, ${backend.name} binding`;
    if (note === undefined) return { subject, state: 'ok', detail };
    return { subject, state: 'warning', detail, remedy: note };
  } catch (error) {
    const remedy = 'install the dependencies again; on Linux glibc 2.28 or newer is needed (Alpine has musl)';
    return { subject, state: 'problem', detail: (error as Error).message, remedy };
  }
}

export async function checkKernels(): Promise<Finding> {
  const subject = 'CPU kernels';
  const kernels = await probeKernels();
  if ('isa' in kernels) return { subject, state: 'ok', detail: kernels.isa };
  const remedy =
    'models run on the operators of ONNX Runtime, which are slower; a CPU with AVX2 or NEON dot products has kernels';
  return { subject, state: 'warning', detail: kernels.missing, remedy };
}

export async function checkDevice({ device: wanted }: Pick<Config, 'device'>): Promise<Finding> {
  const subject = 'device';
  try {
    const { device, facts, note, isFallback } = await chooseDevice(wanted);
    const detail = [device, facts?.name, note].filter(text => text !== undefined).join(', ');
    if (isFallback !== true) return { subject, state: 'ok', detail };
    return {
      subject,
      state: 'warning',
      detail,
      remedy: 'update the driver of the GPU, or name --device cpu',
    };
  } catch (error) {
    const remedy = `update the driver, or start with --device auto or cpu; docs/gpus.md has more`;
    return { subject, state: 'problem', detail: `${wanted}: ${(error as Error).message}`, remedy };
  }
}
