// The settings that decide how a folder is built, as the model builder takes them.

import { chooseVariants } from '@ortler/engine/graph-contract';
import type { KvType, PrepareModelOptions } from '@ortler/model-builder';
import { type DeviceChoice, probeKernels } from '@ortler/onnxruntime';
import type { Config } from '../config/config.ts';
import { cacheDirOf } from './housekeeping.ts';

const TYPES = { f32: 'float32', f16: 'float16', int8: 'int8' } as const;

/** Undefined for `auto`: the builder's choice, or what an existing build has. */
export function toKvType(kvCache: Config['kvCache']): KvType | undefined {
  return kvCache === 'auto' ? undefined : TYPES[kvCache];
}

/** Builds are cached in `models` below the data folder. */
export async function toBuildOptions(
  {
    dataDir,
    precision,
    kvCache,
    contextLength,
    generationConfig,
    device: wanted,
  }: Pick<Config, 'dataDir' | 'precision' | 'kvCache' | 'contextLength' | 'generationConfig' | 'device'>,
  device: DeviceChoice['device'],
): Promise<
  Pick<
    PrepareModelOptions,
    'cacheDir' | 'precision' | 'kvType' | 'variants' | 'contextLength' | 'modelDefaults'
  >
> {
  return {
    cacheDir: cacheDirOf({ dataDir }),
    precision,
    kvType: toKvType(kvCache),
    contextLength,
    modelDefaults: generationConfig === 'on',
    variants: chooseVariants({ device, isOptional: wanted === 'auto' }, await probeKernels()),
  };
}
