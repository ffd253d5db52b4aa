// Keeps end-of-sequence and stop tokens from being drawn while an output is too short.

/**
 * Sets the logits of the tokens to minus infinity. When nothing finite would be left, the row stays as it is:
 * an answer that ends too early is better than none.
 * Mutates: `logits`.
 */
export function maskBannedTokens(logits: Float32Array, bannedTokenIds: readonly number[]): void {
  if (bannedTokenIds.length === 0) return;
  const saved = bannedTokenIds.map(id => logits[id]);
  for (const id of bannedTokenIds) if (id < logits.length) logits[id] = -Infinity;
  if (logits.some(logit => logit > -Infinity)) return;
  // Backwards, so that an id that is listed twice ends with its first saved value.
  for (let i = saved.length - 1; i >= 0; i--) {
    const logit = saved[i];
    if (logit !== undefined) logits[bannedTokenIds[i]!] = logit;
  }
}
