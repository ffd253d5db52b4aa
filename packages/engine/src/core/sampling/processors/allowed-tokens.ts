// Allowed token ids: bans every token that is not in the list of the request.

import type { LogitsProcessor } from '../logits-processor.ts';

/** Every other token gets minus infinity. The ids are in the vocabulary. */
export function allowTokens(allowedTokenIds: readonly number[]): LogitsProcessor {
  const ids = Int32Array.from(allowedTokenIds);
  const kept = new Float32Array(ids.length);
  return {
    edit(logits) {
      for (let i = 0; i < ids.length; i++) kept[i] = logits[ids[i]!]!;
      logits.fill(-Infinity);
      for (let i = 0; i < ids.length; i++) logits[ids[i]!] = kept[i]!;
    },
    describe(edits) {
      edits.allowedTokenIds = ids;
    },
  };
}
