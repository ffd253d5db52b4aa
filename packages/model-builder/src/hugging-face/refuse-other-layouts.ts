// Refuses folders of the Hub that hold something other than a model of transformers, before a file of that is missed in them.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelBuildError } from '../errors.ts';

/** By a file that only such a folder has in place of `config.json`. */
const LAYOUTS: readonly (readonly [file: string, layout: string])[] = [
  ['model_index.json', 'a diffusion pipeline, which generates images, audio or video and no text'],
  ['adapter_config.json', 'an adapter: name the model that it was made from, and this folder as its adapter'],
  [
    'params.json',
    'in the layout of its makers: get the folder with config.json and safetensors from the Hub',
  ],
];

/** Throws: `unsupported`. */
export async function refuseOtherLayouts(folder: string, configFile: string): Promise<void> {
  if (await exists(join(folder, configFile))) return;
  for (const [file, layout] of LAYOUTS) {
    const path = join(folder, file);
    if (await exists(path))
      throw new ModelBuildError('unsupported', `${folder} is ${layout}`, { file: path });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
