// The graph variant of a checkpoint on a device: the first in the device's order whose operators can compute the model.

import type { GraphVariant } from '@ortler/engine/graph-contract';
import { variantFault } from './architectures/variant-fault.ts';
import { readBuildManifest } from './build-manifest.ts';
import { findCheckpoint } from './checkpoint-source.ts';
import { ModelBuildError } from './errors.ts';
import { findExports } from './exported/find-exports.ts';
import { forContext } from './hugging-face/long-rope.ts';

export interface VariantChoice {
  readonly variant: GraphVariant;
  /** Why it is not the device's first, for people: begins like "layer 0 has a window". Undefined where it is. */
  readonly reason: string | undefined;
  /** Why none of the variants can compute the model; the builder refuses it. */
  readonly fault?: string;
}

/**
 * `variants`: of `chooseVariants`. A build, an export, and a folder that cannot be read get the first: the graph is there already, or the
 * builder reports the fault. So does a model that none can compute.
 */
export async function settleVariant(
  sourceDir: string,
  variants: readonly [GraphVariant, ...GraphVariant[]],
  contextLength?: number | undefined,
): Promise<VariantChoice> {
  const [first] = variants;
  if (variants.length === 1) return { variant: first, reason: undefined };
  try {
    const hasGraph =
      (await readBuildManifest(sourceDir)) !== undefined ||
      (await findExports(sourceDir, first)) !== undefined;
    if (hasGraph) return { variant: first, reason: undefined };
    const config = forContext(await (await findCheckpoint(sourceDir)).readConfig(), contextLength);
    const faults: string[] = [];
    for (const variant of variants) {
      const fault = variantFault(variant, config);
      if (fault === undefined) return { variant, reason: faults[0] };
      faults.push(fault.message);
    }
    return { variant: first, reason: undefined, fault: [...new Set(faults)].join('; ') };
  } catch (error) {
    if (!(error instanceof ModelBuildError)) throw error;
  }
  return { variant: first, reason: undefined };
}
