// Log probabilities of a row of logits by itself, with plain loops: slower than the sampler, but the same bits.

import { Candidates } from '../core/sampling/candidates.ts';
import { PlainKernels } from '../core/sampling/kernels/plain-kernels.ts';
import { LogitsRow } from '../core/sampling/logits-row.ts';
import { readRowLogprobs } from '../core/sampling/logprobs.ts';
import type { TokenLogprobs } from '../request/token-logprobs.ts';

export function readTokenLogprobs(logits: Float32Array, tokenId: number, topCount: number): TokenLogprobs {
  const row = new LogitsRow(logits.length, new PlainKernels(logits.length));
  row.load(logits);
  row.scan();
  return readRowLogprobs(row, new Candidates(logits.length), tokenId, topCount);
}
