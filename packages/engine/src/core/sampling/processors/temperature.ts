// Turns a row of logits into candidates with scores at a temperature.

import type { Candidates } from '../candidates.ts';

/** Mutates: fills `candidates` with every token whose logit is finite. `temperature` is above 0. */
export function applyTemperature(
  candidates: Candidates,
  logits: Float32Array,
  largestLogit: number,
  temperature: number,
): void {
  const { tokenIds, scores } = candidates;
  let count = 0;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!;
    if (logit === -Infinity) continue;
    tokenIds[count] = id;
    scores[count] = (logit - largestLogit) / temperature;
    count++;
  }
  candidates.count = count;
}
