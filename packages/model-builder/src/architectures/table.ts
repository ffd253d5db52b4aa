// The architectures that can be built, by the `model_type` of config.json.

import type { Architecture } from './architecture.ts';
import { cohere2 } from './cohere2.ts';
import { gemma, gemma2, gemma3 } from './gemma.ts';
import { llama } from './llama.ts';
import { ministral3, mistral } from './mistral.ts';
import { olmo2, olmo3 } from './olmo.ts';
import { qwen2 } from './qwen2.ts';
import { qwen3 } from './qwen3.ts';

export const ARCHITECTURES: ReadonlyMap<string, Architecture> = new Map(
  [cohere2, gemma, gemma2, gemma3, llama, ministral3, mistral, olmo2, olmo3, qwen2, qwen3].map(
    architecture => [architecture.modelType, architecture],
  ),
);
