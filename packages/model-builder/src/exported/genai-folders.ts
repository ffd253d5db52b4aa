// Finds folders in the layout of onnxruntime-genai. Published repositories have several, one for each device, in subfolders
// such as `cpu_and_mobile/cpu-int4-rtn-block-32/`.

import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type GraphVariant, isGpuVariant } from '@ortler/engine/graph-contract';
import { z } from 'zod';
import { ModelBuildError } from '../errors.ts';
import { readJsonFile } from '../hugging-face/json-file.ts';
import { LAYOUT_NAMES } from './export-settings.ts';
import { GENAI_CONFIG_FILE } from './genai-config.ts';
import { parseSettings } from './parse-settings.ts';

/** Levels of subfolders that are searched. */
const DEPTH = 3;
/** Maximum number of folders that are searched, because any folder may be given. */
const FOLDER_LIMIT = 200;

export interface GenaiFolder {
  /** Relative to the searched folder; empty for itself. */
  readonly path: string;
  /** Names of execution providers in lower case; none for the CPU. */
  readonly providers: readonly string[];
}

/** Providers of GPUs whose graphs have plain operators. */
const GPU_PROVIDERS = ['cuda', 'webgpu', 'dml'];

/**
 * The folder with the model for the device: `root` itself, or the only suitable one below it. Undefined when there is none at
 * all. `variant` tells the device. Throws: `unsupported` with the list when several or none of those found suit.
 */
export async function findGenaiFolder(root: string, variant: GraphVariant): Promise<string | undefined> {
  const found = await listGenaiFolders(root);
  if (found.length === 0) return undefined;
  if (found[0]!.path === '') return root;
  const suitable = suitableFolders(found, variant);
  if (suitable.length === 1) return join(root, suitable[0]!.path);
  const list = found.map(({ path, providers }) => `${path} (${providers.join(', ') || 'cpu'})`).join(', ');
  const problem =
    suitable.length === 0
      ? 'none of them is for this device'
      : `give the folder of one, such as ${join(root, suitable[0]!.path)}`;
  const message = `${root} has models in the layout of ${LAYOUT_NAMES.genai} in subfolders: ${list}; ${problem}`;
  throw new ModelBuildError('unsupported', message, { file: root });
}

/** A folder for the CPU beside one for another device in the same repository. */
export async function findCpuFolder(folder: string): Promise<string | undefined> {
  const near = [dirname(folder), dirname(dirname(folder))];
  for (const ancestor of near) {
    const names = await readdir(ancestor).catch(() => []);
    for (const name of names.filter(entry => entry.startsWith('cpu')).toSorted()) {
      const path = join(ancestor, name);
      // A fault in another folder is not that of this one.
      const inside = await listGenaiFolders(path).catch(() => []);
      const choice = inside.find(({ providers }) => providers.length === 0);
      if (choice !== undefined && join(path, choice.path) !== folder) return join(path, choice.path);
    }
  }
  return undefined;
}

/** Those for the device; on a GPU those for the CPU where there is none for it. */
export function suitableFolders<Folder extends GenaiFolder>(
  found: readonly Folder[],
  variant: GraphVariant,
): readonly Folder[] {
  const forCpu = found.filter(({ providers }) => providers.length === 0);
  if (!isGpuVariant(variant)) return forCpu;
  const forGpu = found.filter(({ providers }) => providers.some(name => GPU_PROVIDERS.includes(name)));
  return forGpu.length > 0 ? forGpu : forCpu;
}

/** Breadth first, so `root` itself comes first; folders inside a found one are not searched. */
async function listGenaiFolders(root: string): Promise<readonly GenaiFolder[]> {
  const found: GenaiFolder[] = [];
  let level = [''];
  let visitedCount = 0;
  for (let depth = 0; depth <= DEPTH; depth++) {
    const below: string[] = [];
    for (const path of level) {
      if (visitedCount++ >= FOLDER_LIMIT) return found;
      const entries = await readdir(join(root, path), { withFileTypes: true }).catch(() => []);
      if (entries.some(({ name }) => name === GENAI_CONFIG_FILE)) {
        found.push({ path, providers: await readProviders(join(root, path, GENAI_CONFIG_FILE)) });
        continue;
      }
      const folders = entries.filter(entry => entry.isDirectory() && !entry.name.startsWith('.'));
      below.push(...folders.map(({ name }) => join(path, name)).toSorted());
    }
    level = below;
  }
  return found;
}

/** The part of the file that names devices: a list of objects with one key, the provider. */
const providerSettings = z.looseObject({
  model: z.looseObject({
    decoder: z
      .looseObject({
        session_options: z
          .looseObject({ provider_options: z.array(z.record(z.string(), z.unknown())).nullish() })
          .nullish(),
      })
      .nullish(),
  }),
});

async function readProviders(file: string): Promise<readonly string[]> {
  return providersOf(file, await readJsonFile(file));
}

/** Devices in the content of a genai_config.json, in lower case; none for the CPU. Throws: `config_invalid`. */
export function providersOf(file: string, json: unknown): readonly string[] {
  const { model } = parseSettings(providerSettings, file, json);
  const options = model.decoder?.session_options?.provider_options ?? [];
  const names = options.flatMap(option => Object.keys(option)).map(name => name.toLowerCase());
  return names.filter(name => name !== 'cpu');
}
