// How many rows of logits one step of a model may have: arithmetic over the memory that a runner has for them.

/**
 * Memory for logits of prompt positions and drafted tokens beyond one row per sequence. In the process, what no such
 * request used is not touched. Unit: bytes.
 */
const FURTHER_LOGITS_BYTES = 32 * 2 ** 20;

/** Most rows of a step: one for each sequence, and some more, at least one and at most a context of them. */
export function countLogits(sequenceCount: number, contextLength: number, vocabSize: number): number {
  const further = Math.max(1, Math.floor(FURTHER_LOGITS_BYTES / (4 * vocabSize)));
  return sequenceCount + Math.min(contextLength, further);
}
