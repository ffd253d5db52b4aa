// Sequences for tests of the scheduler and the cache bookkeeping, without a core around them.

import type { KvCacheManager } from '../core/kv-cache/kv-cache-manager.ts';
import { createSequenceGroup, Sequence } from '../core/sequence.ts';
import type { SubmitMessage } from '../protocol/messages.ts';
import { NEUTRAL_SAMPLING } from '../request/sampling-params.ts';

/** A sequence of its own request, with the prompt 0, 1, 2, ...; requests come in the order of their ids. */
export function createSequence(
  requestId: number,
  promptLength = 3,
  changes: Partial<SubmitMessage> = {},
): Sequence {
  const message: SubmitMessage = {
    kind: 'submit',
    requestId,
    promptTokenIds: Int32Array.from({ length: promptLength }, (_, index) => index),
    choiceCount: 1,
    sampling: { ...NEUTRAL_SAMPLING, temperature: 0, seed: 0n },
    maxTokens: 8,
    minTokens: 0,
    eosTokenIds: [],
    stopTokenIds: [],
    minTokensBannedIds: [],
    ...changes,
  };
  const group = createSequenceGroup(message, 0);
  const sequence = new Sequence(group, 0);
  group.openSequences.add(sequence);
  return sequence;
}

/** Admits a sequence like the scheduler. Returns whether the cache could take it. */
export function admit(cache: KvCacheManager, sequence: Sequence): boolean {
  const admission = cache.admit(sequence);
  if (admission === null) return false;
  sequence.enterCache(admission.place, admission.cachedLength);
  sequence.group.cachedTokenCount ??= Math.min(admission.cachedLength, sequence.promptLength);
  return true;
}

/** Takes a sequence out of the cache like the scheduler. */
export function release(
  cache: KvCacheManager,
  sequence: Sequence,
  options: { readonly keepsPrefix: boolean },
): void {
  cache.release(sequence, options);
  sequence.leaveCache();
}
