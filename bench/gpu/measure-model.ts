// One shape in one precision on the device: built, checked against the CPU, and timed.

import type { Engine } from '@ortler/engine';
import { checkDevice, type LogprobDifference } from './check-device.ts';
import { COMPARED_STEPS, type PeerReference, readPeerReference } from './compare-peer.ts';
import { buildForDevice, buildForProcessor, type GpuPrecision, startEngine } from './gpu-model.ts';
import { type GpuSettings, shapeOf } from './gpu-settings.ts';
import type { GpuShape } from './gpu-shapes.ts';
import { type DecodeTimes, measureDecode, measurePrefill, type PrefillTimes } from './measure-device.ts';

export const PREFILL_ROUNDS = 5;
/** Larger shapes are checked by the tiny one: the CPU would take minutes for them. */
const LARGEST_CHECKED_BYTES = 4 * 2 ** 30;

export interface ModelResult {
  readonly precision: GpuPrecision;
  readonly weightBytes: number;
  readonly checkedShape: string;
  readonly check: LogprobDifference;
  readonly decode: readonly DecodeTimes[];
  readonly parameterCount: number;
  readonly prefill: readonly PrefillTimes[];
  /** Our logits, which a peer's are compared with. */
  readonly reference: PeerReference;
}

export async function measureModel(
  folder: string,
  shape: GpuShape,
  precision: GpuPrecision,
  settings: GpuSettings,
): Promise<ModelResult> {
  const { device, streams, tokenCount, prefillCounts } = settings;
  const { deviceDir, weightBytes } = await buildForDevice(folder, shape, precision, settings);
  const engine = await startEngine(deviceDir, device, Math.max(...streams));
  try {
    const isChecked = weightBytes <= LARGEST_CHECKED_BYTES;
    const check = isChecked
      ? await compare(folder, shape, precision, engine)
      : await checkTiny(folder, precision, settings);
    console.error(`measuring ${shape.name} in ${precision} ...`);
    // Shaders are compiled by the first calls of each size.
    await measureDecode(engine, Math.max(...streams), COMPARED_STEPS);
    for (const count of prefillCounts) await measurePrefill(engine, count, 1);
    const decode: DecodeTimes[] = [];
    for (const count of streams) {
      const times = await measureDecode(engine, count, tokenCount);
      if (times !== null) decode.push(times);
      else
        console.error(`${count} streams of ${tokenCount} tokens never ran all at once: give more --tokens.`);
    }
    const prefill: PrefillTimes[] = [];
    for (const count of prefillCounts) prefill.push(await measurePrefill(engine, count, PREFILL_ROUNDS));
    return {
      ...{ precision, weightBytes, check, decode, prefill },
      parameterCount: engine.info.parameterCount,
      checkedShape: isChecked ? shape.name : 'tiny',
      reference: await readPeerReference(engine),
    };
  } finally {
    await engine.close();
  }
}

async function compare(
  folder: string,
  shape: GpuShape,
  precision: GpuPrecision,
  engine: Engine,
): Promise<LogprobDifference> {
  const processor = await startEngine(await buildForProcessor(folder, shape, precision), 'cpu', 1);
  try {
    return await checkDevice(engine, processor);
  } finally {
    await processor.close();
  }
}

async function checkTiny(
  folder: string,
  precision: GpuPrecision,
  settings: GpuSettings,
): Promise<LogprobDifference> {
  const tiny = shapeOf('tiny');
  const { deviceDir } = await buildForDevice(folder, tiny, precision, settings);
  const engine = await startEngine(deviceDir, settings.device, 1);
  try {
    return await compare(folder, tiny, precision, engine);
  } finally {
    await engine.close();
  }
}
