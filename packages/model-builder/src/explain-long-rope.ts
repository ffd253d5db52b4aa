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

/** Without a full stop. */
export function describeLongRope({ factors, originalContextLength }: LongRopeChoice): string {
  const limit = originalContextLength.toLocaleString('en');
  return factors === 'short'
    ? `LongRoPE with its short factors, as the context is at most ${limit} tokens; a longer --context-length takes the long ones`
    : `LongRoPE with its long factors, as the context is longer than ${limit} tokens; a --context-length of at most that takes the short ones`;
}
