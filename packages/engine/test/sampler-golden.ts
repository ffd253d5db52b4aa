// Compares the sampler with rows that test/golden/make_sampler_goldens.py made, row by row. Callers: the golden test
// and test/golden/check-sampler-rows.ts, which takes as many rows as one likes to make.

import { counterKey } from '../src/core/sampling/counter-random.ts';
import { createLogitsProcessors } from '../src/core/sampling/create-logits-processors.ts';
import { Sampler, type SamplingStep } from '../src/core/sampling/sampler.ts';
import { TokenCounts } from '../src/core/sampling/token-counts.ts';
import type { SubmitMessage } from '../src/protocol/messages.ts';
import { validateSamplingParams } from '../src/request/sampling-params.ts';

export interface GoldenRow {
  readonly seed: number;
  readonly size: number;
  readonly kind: 'wide' | 'bell' | 'flat' | 'steps';
  readonly prompt: readonly number[];
  readonly output: readonly number[];
  readonly allowed: readonly number[] | null;
  readonly bad: readonly (readonly number[])[];
  readonly min_tokens: number;
  readonly ends: readonly number[];
  readonly bias: readonly (readonly [number, number])[];
  readonly repetition: number;
  readonly frequency: number;
  readonly presence: number;
  readonly temperature: number;
  readonly min_p: number;
  readonly top_k: number;
  readonly top_p: number;
  /** Base64 of one bit for each token that may be drawn. */
  readonly kept: string;
  /** Of every token; only in some rows. */
  readonly probabilities?: readonly number[];
}

export interface SamplerGolden {
  readonly rows: readonly GoldenRow[];
}

/** The row's logits: whole numbers from a fixed generator, scaled by a power of two. Shape: `[size]`. */
export function goldenLogits({ seed, size, kind }: GoldenRow): Float32Array {
  let state = seed;
  const uniform = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 10;
  };
  return Float32Array.from({ length: size }, () => {
    const total = uniform() + uniform() + uniform() + uniform() - 2 ** 23;
    if (kind === 'steps') return total >> 19;
    return total * { wide: 2 ** -18, bell: 2 ** -20, flat: 2 ** -23 }[kind];
  });
}

/** The row as a step of the sampler. */
export function goldenStep(row: GoldenRow, position = 0): SamplingStep {
  const sampling = validateSamplingParams({
    temperature: row.temperature,
    topP: row.top_p,
    topK: row.top_k,
    minP: row.min_p,
    frequencyPenalty: row.frequency,
    presencePenalty: row.presence,
    repetitionPenalty: row.repetition,
    logitBias: row.bias.map(([tokenId, bias]) => ({ tokenId, bias })),
    ...(row.allowed === null ? {} : { allowedTokenIds: row.allowed }),
  });
  const request: SubmitMessage = {
    kind: 'submit',
    requestId: 1,
    promptTokenIds: Int32Array.from(row.prompt),
    choiceCount: 1,
    sampling: { ...sampling, seed: 0n },
    maxTokens: 100,
    minTokens: row.min_tokens,
    eosTokenIds: [],
    stopTokenIds: [],
    minTokensBannedIds: row.ends,
    badTokenSequences: row.bad,
  };
  const tokenCounts = new TokenCounts();
  for (const id of row.output) tokenCounts.add(id);
  return {
    params: sampling,
    randomKey: counterKey(BigInt(row.seed)),
    position,
    processors: createLogitsProcessors(request),
    output: { outputTokenIds: row.output, tokenCounts },
    topLogprobCount: undefined,
  };
}

/** Ids that the golden keeps, ascending. */
export function goldenIds({ kept, size }: GoldenRow): readonly number[] {
  const bytes = Buffer.from(kept, 'base64');
  return Array.from({ length: size }, (_, id) => id).filter(id => ((bytes[id >> 3]! >> (id & 7)) & 1) === 1);
}

/** Ids that the sampler keeps, ascending. */
export function keptIds(row: GoldenRow): readonly number[] {
  const { tokenIds, count } = new Sampler(row.size).narrow(goldenLogits(row), goldenStep(row));
  return [...tokenIds.subarray(0, count)];
}
