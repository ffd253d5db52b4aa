// Why a checkpoint cannot have the KV cache that was asked for: what a build would refuse, by its config.json alone.

import type { GraphVariant, KvType } from '@ortler/engine/graph-contract';
import { cacheFault } from './architectures/variant-fault.ts';
import { findCheckpoint } from './checkpoint-source.ts';
import { settleKvType } from './content-hash.ts';
import { ModelBuildError } from './errors.ts';

/** Undefined where a build of the variant can have the cache, and where the folder cannot be read. */
export async function explainCacheFault(
  sourceDir: string,
  variant: GraphVariant,
  kvType: KvType | undefined,
): Promise<string | undefined> {
  if (kvType === undefined) return undefined;
  try {
    // Where the type is named, the precision does not matter.
    settleKvType(variant, 'q4', kvType);
  } catch (error) {
    if (error instanceof ModelBuildError) return error.message;
    throw error;
  }
  try {
    return cacheFault(variant, kvType, await (await findCheckpoint(sourceDir)).readConfig())?.message;
  } catch (error) {
    if (error instanceof ModelBuildError) return undefined;
    throw error;
  }
}
