// Counts the tokens of steps in a histogram. Written by the engine core, read with its statistics.

import type { StepSizes } from '../../protocol/core-stats.ts';
import { STEP_SIZE_BOUNDS } from '../../protocol/core-stats.ts';

export class StepSizeCounter {
  /** One for each bound, and one for larger steps. */
  readonly #counts = new Array<number>(STEP_SIZE_BOUNDS.length + 1).fill(0);
  #sum = 0;

  add(tokenCount: number): void {
    let index = 0;
    while (index < STEP_SIZE_BOUNDS.length && tokenCount > STEP_SIZE_BOUNDS[index]!) index++;
    this.#counts[index]!++;
    this.#sum += tokenCount;
  }

  read(): StepSizes {
    return { counts: [...this.#counts], tokenCount: this.#sum };
  }
}
