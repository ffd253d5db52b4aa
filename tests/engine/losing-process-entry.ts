// Main module of a model's process whose device is lost when the file named in LOSE_DEVICE appears. The file is taken away, so
// that the next process keeps its device.

import { existsSync, rmSync } from 'node:fs';
import { loadCore, serveProcess } from '@ortler/engine/testing';
import { selectBackend } from '@ortler/onnxruntime';
import { loseDevice } from './losing-backend.ts';

const file = process.env.LOSE_DEVICE ?? '';

function isLost(): boolean {
  if (!existsSync(file)) return false;
  rmSync(file);
  return true;
}

await serveProcess((options, onWarmUp) =>
  loadCore(options, onWarmUp, async choice => {
    const selected = await selectBackend(choice);
    return { ...selected, backend: loseDevice(selected.backend, isLost) };
  }),
);
