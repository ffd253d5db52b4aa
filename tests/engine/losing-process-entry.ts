// Main module of a model's process whose device is lost when the file `lose-device` appears in the model's folder. The file is taken away, so
// that the next process keeps its device.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadCore, serveProcess } from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { loseDevice } from './losing-backend.ts';

function takeAway(file: string): boolean {
  if (!existsSync(file)) return false;
  rmSync(file);
  return true;
}

await serveProcess((options, onWarmUp) =>
  loadCore(options, onWarmUp, async choice => {
    const selected = await selectBackend(choice);
    return {
      ...selected,
      backend: loseDevice(selected.backend, () => takeAway(join(options.modelDir, 'lose-device'))),
    };
  }),
);
