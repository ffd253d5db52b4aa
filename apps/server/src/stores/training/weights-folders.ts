// Weights folders that clients may name: only folders inside the configured checkpoint folder.

import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import type { WeightsFolders } from '@ortler/api';
import { checkAdapter, ModelBuildError } from '@ortler/model-builder';
import { findOutside, isInside } from '../../models/confine-weights.ts';

const ADAPTER_CONFIG = 'adapter_config.json';
const ADAPTER_WEIGHTS = 'adapter_model.safetensors';
/** It is read on the thread that serves all requests; published ones have a few kilobytes. */
const MOST_CONFIG_BYTES = 256 * 1024;
/** Headers of weights up to this length are checked at once, which takes some milliseconds, longer ones when the adapter is built. */
const MOST_HEADER_BYTES = 256 * 1024;

/** @param checkpointDir Absolute path. Keys of a team may name folders in its subfolder of the team's name, other keys all. */
export function createWeightsFolders(checkpointDir: string): WeightsFolders {
  return {
    async inspect(path, team) {
      const root = team === null ? checkpointDir : join(checkpointDir, team);
      // By its name alone, because the answer must not reveal what exists elsewhere.
      if (/\.gguf$/i.test(path)) return { problem: GGUF };
      const wanted = resolve(root, path);
      // Checked before and after symbolic links are resolved: the answer must not reveal what exists elsewhere.
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
      const outside = await findOutside(real, [root]);
      if (outside !== undefined)
        return { problem: `its file ${outside} is a link out of that folder, leads nowhere, or is no file` };
      const hasWeights = (pattern: RegExp) => names.some(name => pattern.test(name));
      if (names.includes(ADAPTER_CONFIG)) {
        if (!names.includes(ADAPTER_WEIGHTS))
          return { problem: `the folder has an ${ADAPTER_CONFIG} but no ${ADAPTER_WEIGHTS}` };
        const fault = await findAdapterFault(real);
        return fault === undefined ? { kind: 'lora', path: real } : { problem: fault };
      }
      if (names.includes('config.json') && hasWeights(/\.safetensors$/)) return { kind: 'full', path: real };
      if (hasWeights(/\.gguf$/i)) return { problem: GGUF };
      return { problem: 'the folder has neither an adapter_config.json nor a config.json with safetensors' };
    },
  };
}

/** Why no base could take the adapter, in words that name its files within the folder; undefined when one may. */
async function findAdapterFault(folder: string): Promise<string | undefined> {
  const { size } = await stat(join(folder, ADAPTER_CONFIG));
  if (size > MOST_CONFIG_BYTES)
    return `its ${ADAPTER_CONFIG} has ${size} bytes; at most ${MOST_CONFIG_BYTES} are read`;
  // What cannot be read is for the check to say.
  if (await hasLongHeader(join(folder, ADAPTER_WEIGHTS)).catch(() => false)) return undefined;
  try {
    await checkAdapter(folder);
    return undefined;
  } catch (error) {
    if (!(error instanceof ModelBuildError)) throw error;
    return error.message.replaceAll(`${folder}${sep}`, '');
  }
}

/** Whether the file has a header that takes long to read. A length that the file does not have is refused at once. */
async function hasLongHeader(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(8), 0, 8, 0);
    const headerBytes = buffer.readBigUInt64LE();
    return headerBytes > MOST_HEADER_BYTES && headerBytes < size;
  } finally {
    await file.close();
  }
}

const GGUF =
  'checkpoints are folders of safetensors; a GGUF file is served as a model of the configuration (--models)';

const OUTSIDE = 'the folder must lie in the checkpoint folder of the server';
