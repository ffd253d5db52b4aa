// Read-only check of the cache bookkeeping. Tests call it after every step; it returns all violations at once.

import type { Sequence } from '../sequence.ts';

export interface KvCacheSnapshot {
  readonly slotCount: number;
  readonly contextLength: number;
  /** Owners in slot order. */
  readonly owners: readonly Sequence[];
}

/** What is wrong, in sentences; empty when nothing is. */
export function findKvCacheViolations(snapshot: KvCacheSnapshot): string[] {
  const violations: string[] = [];
  const { owners, slotCount, contextLength } = snapshot;
  if (owners.length > slotCount)
    violations.push(`${owners.length} sequences own slots but there are ${slotCount}.`);
  if (new Set(owners).size !== owners.length) violations.push('A sequence owns two slots.');
  let firstPrefilling: number | null = null;
  owners.forEach((sequence, slot) => {
    const name = `Sequence ${sequence.group.requestId}/${sequence.choiceIndex} in slot ${slot}`;
    if (sequence.slot !== slot) violations.push(`${name} believes its slot is ${sequence.slot}.`);
    if (sequence.pendingCount < 1) violations.push(`${name} has no pending token.`);
    if (sequence.tokenCount > contextLength) violations.push(`${name} is longer than the context.`);
    if (!sequence.group.openSequences.has(sequence)) violations.push(`${name} has ended.`);
    if (sequence.outputTokenIds.length > 0 && sequence.computedLength < sequence.promptLength)
      violations.push(`${name} has output before its prompt is computed.`);
    if (sequence.pendingCount > 1) firstPrefilling ??= slot;
    else if (firstPrefilling !== null && sequence.outputTokenIds.length > 0)
      violations.push(`${name} decodes behind the prefilling slot ${firstPrefilling}.`);
  });
  return violations;
}
