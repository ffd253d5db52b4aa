// The sampler against the published steps done naively: whole sorts, fresh arrays, every softmax written
// out. Rows on which rounding decides whether a token is kept are left out; `sampler-equivalence.property.test.ts` takes
// all rows, with the sampler's own weights.

import fc from 'fast-check';
import { runs } from 'test-runs';
import { describe, expect, it } from 'vitest';
import type { SubmitMessage } from '../../protocol/messages.ts';
import type { SamplingParams } from '../../request/sampling-params.ts';
import { counterKey } from './counter-random.ts';
import { createLogitsProcessors } from './create-logits-processors.ts';
import { Sampler } from './sampler.ts';
import { TokenCounts } from './token-counts.ts';

interface Kept {
  readonly id: number;
  readonly probability: number;
}

function softmax(logits: readonly number[]): number[] {
  const largest = Math.max(...logits);
  const weights = logits.map(logit => Math.exp(logit - largest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map(weight => weight / total);
}

/** Tokens that may be drawn and their probabilities, by the steps as the wire format's source lists them. */
function referenceDistribution(
  row: readonly number[],
  params: SamplingParams,
): { readonly kept: readonly Kept[]; readonly isOnBorder: boolean } {
  let isOnBorder = false;
  let logits = [...row];
  logits = logits.map(logit => logit / params.temperature);
  const relative = softmax(logits);
  const largest = Math.max(...relative);
  logits = logits.map((logit, id) => {
    const share = relative[id]! / largest;
    if (params.minP > 0 && params.minP < 1 && Math.abs(share - params.minP) < 1e-6) isOnBorder = true;
    return params.minP > 0 && logit < Math.max(...logits) && share < params.minP ? -Infinity : logit;
  });
  if (params.topK > 0 && params.topK < logits.length) {
    const border = [...logits].sort((a, b) => b - a)[params.topK - 1]!;
    logits = logits.map(logit => (logit < border ? -Infinity : logit));
  }
  if (params.topP < 1) {
    const probabilities = softmax(logits);
    const ascending = logits.map((_, id) => id).sort((a, b) => logits[a]! - logits[b]! || b - a);
    let sum = 0;
    for (const id of ascending.slice(0, -1)) {
      sum += probabilities[id]!;
      if (Math.abs(sum - (1 - params.topP)) < 1e-6) isOnBorder = true;
      if (sum <= 1 - params.topP) logits[id] = -Infinity;
    }
  }
  const kept = softmax(logits)
    .map((probability, id) => ({ id, probability }))
    .filter(({ id }) => logits[id] !== -Infinity);
  return { kept, isOnBorder };
}

const params = fc.record({
  temperature: fc.constantFrom(0.01, 0.3, 1, 1.7),
  topK: fc.constantFrom(0, 1, 2, 5, 30, 1000),
  topP: fc.constantFrom(1, 0.999, 0.9, 0.5, 0.01),
  minP: fc.constantFrom(0, 0.02, 0.3, 1),
  frequencyPenalty: fc.constantFrom(0, 0, -0.7, 2),
  presencePenalty: fc.constantFrom(0, 0, -2, 0.3),
  repetitionPenalty: fc.constantFrom(1, 1, 0.6, 1.3),
  logitBias: fc.constantFrom([], [{ tokenId: 0, bias: 1.5 }], [{ tokenId: 0, bias: -100 }]),
  allowedTokenIds: fc.constantFrom(undefined, undefined, [0, 1, 4, 7], [2]),
});

/** Numbers apart by at least a step that no rounding inside the sampler can lose. */
function decimals(min: number, max: number, stepsPerUnit: number): fc.Arbitrary<number> {
  return fc.integer({ min: min * stepsPerUnit, max: max * stepsPerUnit }).map(value => value / stepsPerUnit);
}

const size = { minLength: 1, maxLength: 60 };

/** Rows with many ties, wide rows, rows with masked tokens and nearly flat rows. */
const rows = fc.oneof(
  fc.array(decimals(-4, 4, 2), size),
  fc.array(decimals(-200, 200, 1000), size),
  fc.array(fc.oneof(fc.constant(-Infinity), decimals(-4, 4, 1000)), size),
  fc.array(decimals(0, 0.01, 100_000), size),
);

/** A request, what it has said so far, and the row for its next token. */
interface Case {
  readonly row: Float32Array;
  readonly output: readonly number[];
  readonly request: SubmitMessage;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    row: rows,
    params,
    prompt: fc.array(fc.nat({ max: 59 }), { maxLength: 6 }),
    output: fc.array(fc.nat({ max: 59 }), { maxLength: 6 }),
    badTokenSequences: fc.array(fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 }), {
      maxLength: 3,
    }),
    minTokens: fc.constantFrom(0, 0, 3),
  })
  .map(({ row, params: settings, ...entry }) => {
    const inside = (id: number): number => id % row.length;
    const { allowedTokenIds, ...others } = settings;
    return {
      row: Float32Array.from(row),
      output: entry.output.map(inside),
      request: {
        kind: 'submit',
        requestId: 1,
        promptTokenIds: Int32Array.from(entry.prompt, inside),
        choiceCount: 1,
        sampling: {
          ...others,
          seed: 0n,
          ...(allowedTokenIds === undefined
            ? {}
            : { allowedTokenIds: [...new Set(allowedTokenIds.map(inside))] }),
        },
        maxTokens: 100,
        minTokens: entry.minTokens,
        eosTokenIds: [],
        stopTokenIds: [],
        minTokensBannedIds: [...new Set([1, 4].map(inside))],
        badTokenSequences: entry.badTokenSequences.map(sequence => sequence.map(inside)),
      },
    };
  });

/** The edits before the temperature, one whole pass for each, float32 after each operation. */
function referenceEdits({ row, output, request }: Case): number[] {
  const { sampling, badTokenSequences = [], minTokens, minTokensBannedIds, promptTokenIds } = request;
  const { allowedTokenIds, logitBias = [] } = sampling;
  const f = Math.fround;
  const endsWith = (start: readonly number[]): boolean =>
    start.length <= output.length && start.every((id, i) => output[output.length - start.length + i] === id);
  const count = (id: number): number => output.filter(other => other === id).length;
  let logits = [...row];
  logits = logits.map((logit, id) => (allowedTokenIds?.includes(id) === false ? -Infinity : logit));
  logits = logits.map((logit, id) =>
    badTokenSequences.some(sequence => sequence.at(-1) === id && endsWith(sequence.slice(0, -1)))
      ? -Infinity
      : logit,
  );
  if (output.length < minTokens) {
    logits = logits.map((logit, id) => (minTokensBannedIds.includes(id) ? -Infinity : logit));
  }
  logits = logits.map((logit, id) =>
    logitBias.reduce((sum, entry) => (entry.tokenId === id ? f(sum + entry.bias) : sum), logit),
  );
  const penalty = f(sampling.repetitionPenalty);
  logits = logits.map((logit, id) => {
    if (!promptTokenIds.includes(id) && !output.includes(id)) return logit;
    return logit > 0 ? f(logit / penalty) : f(logit * penalty);
  });
  logits = logits.map((logit, id) => f(logit - f(f(sampling.frequencyPenalty) * count(id))));
  return logits.map((logit, id) => (count(id) > 0 ? f(logit - f(sampling.presencePenalty)) : logit));
}

/** The sampler's own token for the case. */
function draw({ row, output, request }: Case, sampler: Sampler, draw: { seed?: bigint; position?: number }) {
  const tokenCounts = new TokenCounts();
  for (const id of output) tokenCounts.add(id);
  const { tokenId } = sampler.sample(row.slice(), {
    params: request.sampling,
    randomKey: counterKey(draw.seed ?? 1n),
    position: draw.position ?? 0,
    processors: createLogitsProcessors(request),
    output: { outputTokenIds: output, tokenCounts },
    topLogprobCount: undefined,
  });
  return tokenId;
}

const isOpen = (logits: readonly number[]): boolean => logits.some(logit => logit > -Infinity);

describe('Sampler against the naive reference', () => {
  it('draws only tokens that the reference keeps', () => {
    fc.assert(
      fc.property(cases, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (one, seed) => {
        const edited = referenceEdits(one);
        fc.pre(isOpen(edited));
        const { kept, isOnBorder } = referenceDistribution(edited, one.request.sampling);
        fc.pre(!isOnBorder);
        const sampler = new Sampler(one.row.length);
        for (let position = 0; position < 20; position++) {
          expect(kept.map(({ id }) => id)).toContain(draw(one, sampler, { seed, position }));
        }
      }),
      { numRuns: runs({ daily: 100, full: 500 }) },
    );
  });

  it('keeps exactly the reference set: every token of some probability is drawn at some position', () => {
    fc.assert(
      fc.property(cases, one => {
        const edited = referenceEdits(one);
        fc.pre(isOpen(edited));
        const { kept, isOnBorder } = referenceDistribution(edited, one.request.sampling);
        fc.pre(!isOnBorder);
        const drawn = new Set<number>();
        const sampler = new Sampler(one.row.length);
        for (let position = 0; position < 1500; position++) drawn.add(draw(one, sampler, { position }));
        // A token with probability 2 % is missed 1500 times in a row about once in 10^13.
        const expected = kept.filter(({ probability }) => probability > 0.02).map(({ id }) => id);
        expect([...drawn].filter(id => expected.includes(id)).sort((a, b) => a - b)).toEqual(expected);
      }),
      { numRuns: runs({ daily: 15, full: 60 }) },
    );
  });

  it('takes the largest edited logit and the lowest id of equals when greedy', () => {
    fc.assert(
      fc.property(cases, one => {
        const edited = referenceEdits(one);
        fc.pre(isOpen(edited));
        const sampling = { ...one.request.sampling, temperature: 0 };
        const greedy = { ...one, request: { ...one.request, sampling } };
        const token = draw(greedy, new Sampler(one.row.length), {});
        expect(token).toBe(edited.indexOf(Math.max(...edited)));
      }),
      { numRuns: runs({ daily: 100, full: 500 }) },
    );
  });

  it('fails the request when the edits leave no token', () => {
    fc.assert(
      fc.property(cases, one => {
        fc.pre(!isOpen(referenceEdits(one)) && isOpen([...one.row]));
        const error = expect.objectContaining({ code: 'invalid_request' });
        expect(() => draw(one, new Sampler(one.row.length), {})).toThrow(error);
      }),
      { numRuns: 20 },
    );
  });
});
