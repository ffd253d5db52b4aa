// Says where a model in 4 bits loses more than people expect.

import { readBuildManifest } from './build-manifest.ts';

/** Models below it lose much in 4 bits. Source: ADR 45, and every published comparison of sizes. */
const SMALL_MODEL_PARAMETERS = 1e9;

/**
 * A sentence for people about the model in a folder that `prepareModel` returned, with the error of its weights where it was measured.
 * Undefined where it has other precisions or more parameters. Throws: as `readBuildManifest`.
 */
export async function explainLoss(modelDir: string): Promise<string | undefined> {
  const manifest = await readBuildManifest(modelDir);
  if (manifest === undefined) return undefined;
  const { precision, parameterCount, weightError } = manifest;
  if (precision !== 'q4' || !(Number(parameterCount) < SMALL_MODEL_PARAMETERS)) return undefined;
  const loss = 'weights in 4 bits cost models below 1 B parameters quality';
  if (typeof weightError !== 'number') return `${loss}; --precision q8 or f32 keep it.`;
  const percent = (100 * weightError).toFixed(1);
  return `${loss}: those of this build are off by ${percent} % in the root mean square, in q8 by about 0.6 %. ortler build --report measures the perplexity.`;
}
