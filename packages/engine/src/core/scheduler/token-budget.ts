// Pure arithmetic: how many prompt tokens a step carries and who gets them. It knows counts, not sequences.

export interface PrefillLimits {
  /** Most prompt tokens of a step in which no running answer waits. */
  readonly prefillChunkLength: number;
  /** Most prompt tokens of a step that also decodes: what a running answer waits for between two tokens. */
  readonly mixedChunkLength: number;
  /** Most prompt tokens of a step whose log probabilities are asked for. At least 1. */
  readonly promptLogitsLimit: number;
}

/** What is left of a step for prompts. Decodes come on top: each running answer always gets its token. */
export class TokenBudget {
  readonly #limits: PrefillLimits;
  #left = 0;
  #promptLogitsLeft = 0;

  constructor(limits: PrefillLimits) {
    this.#limits = limits;
  }

  get isSpent(): boolean {
    return this.#left === 0;
  }

  /** How many more rows of logits the step has room for, besides one for each slot. */
  get logitsLeft(): number {
    return this.#promptLogitsLeft;
  }

  /** Mutates: begins a step. */
  reset(step: { readonly hasDecodes: boolean }): void {
    const { prefillChunkLength, mixedChunkLength, promptLogitsLimit } = this.#limits;
    this.#left = step.hasDecodes ? Math.min(prefillChunkLength, mixedChunkLength) : prefillChunkLength;
    this.#promptLogitsLeft = promptLogitsLimit;
  }

  /** How many of the pending tokens the step carries; 0 when nothing is left. Mutates: takes them off. */
  grant(pendingCount: number, need: { readonly promptLogits: boolean }): number {
    const room = need.promptLogits ? Math.min(this.#left, this.#promptLogitsLeft) : this.#left;
    const granted = Math.min(pendingCount, room);
    this.#left -= granted;
    if (need.promptLogits) this.#promptLogitsLeft -= granted;
    return granted;
  }
}
