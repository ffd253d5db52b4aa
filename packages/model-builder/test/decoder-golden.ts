// Logits and greedy tokens of small seeded checkpoints, computed by transformers; `golden/make_goldens.py` wrote them.

import { readFileSync } from 'node:fs';

export interface GoldenCase {
  readonly name: string;
  readonly modelType: 'llama' | 'qwen2' | 'qwen3';
  readonly seed: number;
  readonly config: Record<string, unknown>;
  readonly weightCount: number;
  readonly weightBitSum: number;
  readonly prompt: number[];
  readonly logitStride: number;
  readonly logits: number[][];
  readonly lastLogits: number[];
  readonly greedy: number[];
}

export const DECODER_GOLDEN = JSON.parse(
  readFileSync(new URL('./golden/decoders.json', import.meta.url), 'utf8'),
) as {
  provenance: Record<string, string>;
  cases: GoldenCase[];
};
