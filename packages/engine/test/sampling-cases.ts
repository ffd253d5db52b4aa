// Rows of logits and what is asked of them, at random: for tests that hold another sampler to the one on the CPU.

import { counterKey, uniformAt } from '../src/core/sampling/counter-random.ts';
import { createLogitsProcessors } from '../src/core/sampling/create-logits-processors.ts';
import type { SamplingStep } from '../src/core/sampling/sampler.ts';
import { TokenCounts } from '../src/core/sampling/token-counts.ts';
import type { TokenMask } from '../src/core/token-mask.ts';
import { NEUTRAL_SAMPLING, type SamplingParams } from '../src/request/sampling-params.ts';
import { submission } from '../src/testing/submission.ts';

/** How the logits of a row are spread. */
export const ROW_KINDS = ['peaked', 'flat', 'ties', 'model', 'low'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** Kinds of settings that a request may have, besides none at all. */
export const EDIT_KINDS = ['allow', 'ban', 'bias', 'repetition', 'counts', 'mask', 'one'] as const;
export type EditKind = (typeof EDIT_KINDS)[number];

export interface SamplingCase {
  readonly kind: RowKind;
  readonly seed: number;
  readonly params: Partial<SamplingParams>;
  readonly edits: readonly EditKind[];
  readonly topLogprobCount: number | undefined;
}

/** A row of that kind. With `halves`, of numbers that float16 holds. */
export function caseRow({ kind, seed }: SamplingCase, vocabSize: number): Float32Array {
  const key = counterKey(BigInt(seed));
  return Float32Array.from({ length: vocabSize }, (_, id) => {
    const uniform = uniformAt(key, id);
    if (kind === 'peaked') return 6 * uniform + (uniform > 0.97 ? 300 * (uniform - 0.97) : 0);
    if (kind === 'flat') return uniform * 1e-3;
    if (kind === 'ties') return Math.floor(uniform * 5);
    if (kind === 'low') return -200 + 30 * uniform;
    // A bell curve with a long upper tail.
    return (
      2.5 * Math.sqrt(-2 * Math.log(1 - uniform)) * Math.cos(2 * Math.PI * uniformAt(key, id + vocabSize)) - 1
    );
  });
}

/** How the next token of the row is drawn. */
export function caseStep(one: SamplingCase, vocabSize: number): SamplingStep {
  const { seed, edits, topLogprobCount } = one;
  const key = counterKey(BigInt(seed) + 1n);
  const pick = (count: number, from: number): number[] => [
    ...new Set(Array.from({ length: count }, (_, i) => Math.floor(uniformAt(key, from + i) * vocabSize))),
  ];
  const has = (kind: EditKind): boolean => edits.includes(kind);
  const outputTokenIds = [...pick(30, 0), ...pick(10, 0)];
  const tokenCounts = new TokenCounts();
  for (const id of outputTokenIds) tokenCounts.add(id);
  const params = { ...NEUTRAL_SAMPLING, ...one.params };
  const request = submission(1, {
    promptTokenIds: Int32Array.from(pick(40, 100)),
    minTokens: has('ban') ? 1000 : 0,
    minTokensBannedIds: pick(3, 200),
    ...(has('ban') ? { badTokenSequences: [pick(1, 210), [outputTokenIds.at(-1)!, pick(1, 220)[0]!]] } : {}),
    sampling: {
      ...params,
      seed: BigInt(seed),
      ...(has('allow') ? { allowedTokenIds: pick(50, 300) } : {}),
      ...(has('bias')
        ? { logitBias: pick(8, 400).map((tokenId, i) => ({ tokenId, bias: 3 * i - 7.3 })) }
        : {}),
      ...(has('repetition') ? { repetitionPenalty: 1.3 } : {}),
      ...(has('counts') ? { frequencyPenalty: 0.37, presencePenalty: -0.6 } : {}),
    },
  });
  return {
    params,
    randomKey: counterKey(BigInt(seed) + 2n),
    position: seed % 100,
    processors: createLogitsProcessors(request),
    output: { outputTokenIds, tokenCounts },
    topLogprobCount,
    mask: has('one')
      ? maskOf(pick(1, 500), vocabSize)
      : has('mask')
        ? maskOf(pick(200, 500), vocabSize)
        : null,
  };
}

function maskOf(ids: readonly number[], vocabSize: number): TokenMask {
  const words = new Uint32Array(Math.ceil(vocabSize / 32));
  for (const id of ids) words[id >> 5]! |= 1 << (id & 31);
  return { words, endTokenId: null, reasoningTokenId: null };
}
