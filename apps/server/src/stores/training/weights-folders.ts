// Weights on this machine's disk, as far as clients may name them: only under the configured folder.

import { readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { WeightsFolders } from '@ortler/api';

/** @param checkpointDir Absolute folder; keys of a team may name what lies in the folder of that name in it, others all. */
export function createWeightsFolders(checkpointDir: string): WeightsFolders {
  return {
    async inspect(path, team) {
      const root = team === null ? checkpointDir : join(checkpointDir, team);
      const wanted = resolve(root, path);
      // Checked before and after links are followed: the answer must not tell what exists elsewhere.
      if (!isInside(root, wanted)) return { problem: OUTSIDE };
      let real: string;
      let names: readonly string[];
      try {
        real = await realpath(wanted);
        names = await readdir(real);
      } catch {
        return { problem: 'there is no such folder in the checkpoint folder of the server' };
      }
      if (!isInside(await realpath(root), real)) return { problem: OUTSIDE };
      const hasWeights = (pattern: RegExp) => names.some(name => pattern.test(name));
      if (names.includes('adapter_config.json'))
        return hasWeights(/^adapter_model\.safetensors$/)
          ? { kind: 'lora', path: real }
          : { problem: 'the folder has an adapter_config.json but no adapter_model.safetensors' };
      if (names.includes('config.json') && hasWeights(/\.safetensors$/)) return { kind: 'full', path: real };
      return { problem: 'the folder has neither an adapter_config.json nor a config.json with safetensors' };
    },
  };
}

const OUTSIDE = 'the folder must lie in the checkpoint folder of the server';

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === '' || !(isAbsolute(way) || /^\.\.([/\\]|$)/.test(way));
}
