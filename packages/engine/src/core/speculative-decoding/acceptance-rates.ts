// How often drafted tokens were drawn, per sequence and source of the draft: what the policy decides by. Changed by
// `../step/commit-step.ts` only.

import { type DraftSource, FIRST_RATES, updateRate } from './draft-policy.ts';
import type { Draft } from './drafter.ts';

export class AcceptanceRates {
  readonly #rates: Record<DraftSource, number> = { ...FIRST_RATES };

  /** Share of proposed tokens that were drawn, of those whose predecessors were; newer ones count more. */
  of(source: DraftSource): number {
    return this.#rates[source];
  }

  /** Mutates: takes in which tokens were drawn where these were proposed. */
  observe({ proposed, source }: Draft, tokenIds: readonly number[]): void {
    const count = Math.min(proposed.length, tokenIds.length);
    for (let index = 0; index < count; index++) {
      const isRight = proposed[index] === tokenIds[index];
      this.#rates[source] = updateRate(this.#rates[source], { isRight });
      if (!isRight) return;
    }
  }
}
