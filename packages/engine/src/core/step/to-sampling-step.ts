// From a sequence to what the sampler takes. Callers: what samples the rows of a step, here and on a device.

import type { SamplingStep } from '../sampling/sampler.ts';
import type { Sequence } from '../sequence.ts';
import type { TokenMask } from '../token-mask.ts';

/** How the next token of a sequence is drawn. */
export function toSamplingStep(sequence: Sequence, mask: TokenMask | null): SamplingStep {
  const { submitted, logitsProcessors } = sequence.group;
  return {
    params: submitted.sampling,
    randomKey: sequence.randomKey,
    position: sequence.outputTokenIds.length,
    processors: logitsProcessors,
    output: sequence,
    topLogprobCount: submitted.logprobs?.topCount,
    mask,
  };
}
