// What one step computes: frozen data, made by the scheduler, read by the runner, the sampler and the commit.

import type { RunnerRow } from '../runners/model-runner.ts';
import type { Sequence } from '../sequence.ts';

/** Some pending tokens of one sequence. */
export interface PlannedRow extends RunnerRow {
  readonly sequence: Sequence;
  /** Whether these are all pending tokens: the row's last logits, one more than the draft has tokens, give new ones. */
  readonly drawsToken: boolean;
  /** How many of the row's last tokens are a guess at what is drawn; 0 for most rows. */
  readonly draftLength: number;
}

export interface StepPlan {
  /** In slot order. Never empty. */
  readonly rows: readonly PlannedRow[];
}
