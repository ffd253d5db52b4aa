// Pure arithmetic: how many prompt tokens a step carries and who gets them. It knows counts, not sequences.

export interface PrefillLimits {
  /** Most prompt tokens of a step in which no running answer waits. */
  readonly prefillChunkLength: number;
  /**
   * Most prompt tokens of a step that also decodes: what a running answer waits for between two tokens. Fewer deep in a
   * prompt, where a token takes longer, down to a quarter.
   */
  readonly mixedChunkLength: number;
  /** Most prompt tokens of a step whose log probabilities are asked for. At least 1. */
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
  /** Whether log probabilities of the tokens are asked for. */
  readonly promptLogits: boolean;
}

/** What is left of a step for prompts. Decodes come on top: each running answer always gets its token. */
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

  /** How many more rows of logits the step has room for, besides one for each slot. */
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
   * How many of the pending tokens the step carries: at least one while something is left, unless the room for log
   * probabilities is used up. Mutates: takes them off.
   */
  grant({ pendingCount, computedLength, promptLogits }: PromptNeed): number {
    if (this.isSpent) return 0;
    const cost = this.#isMixed ? Math.min(LARGEST_COST, 1 + computedLength / DOUBLE_COST_LENGTH) : 1;
    const affordable = Math.max(1, Math.round(this.#left / cost));
    const room = promptLogits ? Math.min(affordable, this.#promptLogitsLeft) : affordable;
    const granted = Math.min(pendingCount, room);
    this.#left = Math.max(0, this.#left - granted * cost);
    // A rest of less than a token is none.
    if (this.#left < 1) this.#left = 0;
    if (promptLogits) this.#promptLogitsLeft -= granted;
    return granted;
  }
}
