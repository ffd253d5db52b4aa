// Selects the options that cross the link: those of the token side, unchanged. They are plain data; callbacks and options of
// the host stay behind.

import type { EngineOptions } from './engine-options.ts';
import { type CoreOptions, MODEL_OPTIONS } from './options.ts';

export function toCoreOptions({ modelDir, tuning, ...others }: EngineOptions): CoreOptions {
  const given = Object.entries(others).filter(([name]) => Object.hasOwn(MODEL_OPTIONS, name));
  return { ...Object.fromEntries(given), modelDir, tuning };
}
