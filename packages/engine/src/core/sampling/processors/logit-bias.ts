// Logit bias: adds to the logits of single tokens.

import type { LogitBias } from '../../../request/sampling-params.ts';
import type { LogitsProcessor } from '../logits-processor.ts';

/** A banned token stays banned, whatever its bias. */
export function biasTokens(biases: readonly LogitBias[]): LogitsProcessor {
  const ids = Int32Array.from(biases, ({ tokenId }) => tokenId);
  const amounts = Float32Array.from(biases, ({ bias }) => bias);
  return {
    edit(logits) {
      for (let i = 0; i < ids.length; i++) logits[ids[i]!]! += amounts[i]!;
    },
    describe(edits) {
      for (let i = 0; i < ids.length; i++) edits.addBias(ids[i]!, amounts[i]!);
    },
  };
}
