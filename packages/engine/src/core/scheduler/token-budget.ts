// Token budget of a step for chunked prefill: how many prompt tokens a step computes, and their division among prompts. It
// gets counts, not sequences.

export interface PrefillLimits {
  /** Maximum number of prompt tokens of a step in which no running answer waits. */
  readonly prefillChunkLength: number;
  /**
   * Maximum number of prompt tokens in a step that also decodes; it bounds inter-token latency. Fewer deep in
   * a prompt, where a token takes longer, down to a quarter.
   */
  readonly mixedChunkLength: number;
  /** Maximum number of prompt tokens of a step whose log probabilities are requested. At least 1. */
  readonly promptLogitsLimit: number;
}

/** Tokens before a token at which attention to them takes as long as all else of it (SmolLM2-135M, two cores). */
const DOUBLE_COST_LENGTH = 2000;
const LARGEST_COST = 4;

/** A prompt that asks for a part of the step. */
export interface PromptNeed {
  readonly pendingCount: number;
  /** Tokens before the pending ones. */
  readonly computedLength: number;
  /** Whether log probabilities of the tokens are requested. */
  readonly wantsPromptLogprobs: boolean;
}

/** The rest of the budget of a step. Decodes are not counted: each running answer always gets its token. */
export class TokenBudget {
  readonly #limits: PrefillLimits;
  #isMixed = false;
  /** In tokens at the beginning of a prompt. */
  #left = 0;
  #promptLogitsLeft = 0;

  constructor(limits: PrefillLimits) {
    this.#limits = limits;
  }

  get isSpent(): boolean {
    return this.#left === 0;
  }

  /** Number of further rows of logits that fit the step, besides one for each slot. */
  get logitsLeft(): number {
    return this.#promptLogitsLeft;
  }

  /** Mutates: begins a step. */
  reset(step: { readonly hasDecodes: boolean }): void {
    const { prefillChunkLength, mixedChunkLength, promptLogitsLimit } = this.#limits;
    this.#isMixed = step.hasDecodes;
    this.#left = step.hasDecodes ? Math.min(prefillChunkLength, mixedChunkLength) : prefillChunkLength;
    this.#promptLogitsLeft = promptLogitsLimit;
  }

  /**
   * Number of the pending tokens that the step computes: at least one while budget is left, unless the logits for log
   * probabilities are used up. Mutates: subtracts them.
   */
  grant({ pendingCount, computedLength, wantsPromptLogprobs }: PromptNeed): number {
    if (this.isSpent) return 0;
    const cost = this.#isMixed ? Math.min(LARGEST_COST, 1 + computedLength / DOUBLE_COST_LENGTH) : 1;
    const affordable = Math.max(1, Math.round(this.#left / cost));
    const limit = wantsPromptLogprobs ? Math.min(affordable, this.#promptLogitsLeft) : affordable;
    const granted = Math.min(pendingCount, limit);
    this.#left = Math.max(0, this.#left - granted * cost);
    // A rest of less than one token counts as none.
    if (this.#left < 1) this.#left = 0;
    if (wantsPromptLogprobs) this.#promptLogitsLeft -= granted;
    return granted;
  }
}
