// Memory of slots on a device, each a set of tensors of its own: views there must start at the beginning. Caller:
// `device-slots-runner.ts`.

import type { OrtDevice, OrtSession, OrtValue } from '@ortler/onnxruntime';
import { EngineError } from '../../../errors.ts';
import {
  deviceCacheRow,
  KV_PARTS,
  type KvPart,
  layerCaches,
  type ModelManifest,
} from '../../../graph-contract/index.ts';

/** Tensors of one slot, of shape `[1, kvHeadCount, capacity, deviceCacheRow]` of the layer, by layer and part. */
export type SlotTensors = readonly {
  readonly layer: number;
  readonly part: KvPart;
  readonly value: OrtValue;
}[];

export interface DeviceSlotsShape {
  readonly device: OrtDevice;
  readonly slotCount: number;
  /** Maximum number of tokens in a sequence. */
  readonly contextLength: number;
}

/** Throws: `engine_failed`, naming the settings to lower. */
export function allocateSlot(
  session: OrtSession,
  manifest: ModelManifest,
  { contextLength, slotCount, device }: DeviceSlotsShape,
): SlotTensors {
  const { kvType } = manifest;
  const caches = layerCaches(manifest);
  const tensors: { layer: number; part: KvPart; value: OrtValue }[] = [];
  try {
    for (const [layer, { kvHeadCount, headSize }] of caches.entries()) {
      const { type, length } = deviceCacheRow({ kvType, headSize });
      const shape = [1, kvHeadCount, contextLength, length];
      for (const part of KV_PARTS) tensors.push({ layer, part, value: session.allocate(type, shape) });
    }
    return tensors;
  } catch (cause) {
    for (const { value } of tensors) value.dispose();
    const tokenBytes = caches.reduce((sum, { kvHeadCount, headSize }) => {
      const { type, length } = deviceCacheRow({ kvType, headSize });
      return sum + 2 * kvHeadCount * length * (type === 'float16' ? 2 : 4);
    }, 0);
    const gib = (tokenBytes * contextLength * slotCount) / 2 ** 30;
    const message = `The cache of ${slotCount} slots (maxSequences and cacheSlots) of contextLength ${contextLength} takes ${gib.toFixed(1)} GiB on the device "${device}", which has no room for it; lower one of them.`;
    throw new EngineError('engine_failed', message, { cause });
  }
}
