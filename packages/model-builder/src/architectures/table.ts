// The architectures that can be built, by the `model_type` of config.json.

import type { Architecture } from './architecture.ts';
import { llama } from './llama.ts';
import { qwen2 } from './qwen2.ts';
import { qwen3 } from './qwen3.ts';

export const ARCHITECTURES: ReadonlyMap<string, Architecture> = new Map(
  [llama, qwen2, qwen3].map(architecture => [architecture.modelType, architecture]),
);
