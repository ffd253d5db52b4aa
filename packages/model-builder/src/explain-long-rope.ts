// Says which factors of LongRoPE a build has, for people.

import { readBuildManifest } from './build-manifest.ts';
import type { LongRopeChoice } from './hugging-face/long-rope.ts';

/**
 * A sentence about the model in a folder that `prepareModel` returned; undefined for one without LongRoPE. Throws: as
 * `readBuildManifest`.
 */
export async function explainLongRope(modelDir: string): Promise<string | undefined> {
  const choice = (await readBuildManifest(modelDir))?.longRope;
  return choice === undefined ? undefined : `${describeLongRope(choice)}.`;
}

/**
 * Without a full stop. `isBuilt`: of a build, whose factors no setting changes; else of a checkpoint, for which `--context-length` decides.
 */
export function describeLongRope(
  { factors, originalContextLength }: LongRopeChoice,
  { isBuilt = false }: { readonly isBuilt?: boolean } = {},
): string {
  const limit = originalContextLength.toLocaleString('en');
  const ofCheckpoint = isBuilt ? ' in a build of the checkpoint' : '';
  return factors === 'short'
    ? `LongRoPE with its short factors, as the context is at most ${limit} tokens; a longer --context-length${ofCheckpoint} takes the long ones`
    : `LongRoPE with its long factors, as the context is longer than ${limit} tokens; a --context-length of at most that${ofCheckpoint} takes the short ones`;
}
