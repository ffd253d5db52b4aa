// What one step computes: frozen data, made by the scheduler, read by the runner, the sampler and the commit.

import type { RunnerRow } from '../model/model-runner.ts';
import type { Sequence } from '../sequence.ts';

/** Some pending tokens of one sequence. `needsLogits` when they are all of them. */
export interface PlannedRow extends RunnerRow {
  readonly sequence: Sequence;
}

export interface StepPlan {
  /** In slot order. Never empty. */
  readonly rows: readonly PlannedRow[];
}
