// What one step computes: frozen data, made by the scheduler, read by the runner, the sampler and the commit.

import type { RunnerRow } from '../model/model-runner.ts';
import type { Sequence } from '../sequence.ts';

/** Some pending tokens of one sequence. */
export interface PlannedRow extends RunnerRow {
  readonly sequence: Sequence;
  /** Whether these are all pending tokens: the last of the row's logits is then where the next token is drawn. */
  readonly drawsToken: boolean;
}

export interface StepPlan {
  /** In slot order. Never empty. */
  readonly rows: readonly PlannedRow[];
}
