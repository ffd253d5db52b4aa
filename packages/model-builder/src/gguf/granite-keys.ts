// The keys of config.json by which Granite differs from Llama.

import type { GgufFacts } from './gguf-architecture.ts';

export function graniteKeys({ fields }: GgufFacts, architecture: string) {
  return {
    embedding_multiplier: fields.optionalNumber(`${architecture}.embedding_scale`) ?? 1,
    attention_multiplier: fields.number(`${architecture}.attention.scale`),
    residual_multiplier: fields.optionalNumber(`${architecture}.residual_scale`) ?? 1,
    logits_scaling: fields.number(`${architecture}.logit_scale`),
  };
}
