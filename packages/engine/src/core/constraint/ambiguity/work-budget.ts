// How much work the look at one pattern may take, counted in steps rather than in time: the same pattern always gets the same answer.

/** The pattern has too many parts to be judged. */
export class PatternTooLarge extends Error {
  override readonly name = 'PatternTooLarge';
}

export class WorkBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Throws: `PatternTooLarge` when there is no more. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new PatternTooLarge('The pattern takes too many steps');
  }
}
