// Runs steps whose logits come to the CPU: the model runner brings them, the sampler and its threads sample them.

import type { ModelRunner } from '../runners/model-runner.ts';
import { Sampler } from '../sampling/sampler.ts';
import { SamplingThreads } from '../sampling/threads/sampling-threads.ts';
import type { StepPlan } from '../scheduler/step-plan.ts';
import { type SampledRow, sampleStep } from './sample-step.ts';
import { computeAndMask, type StepMasks, type StepRunner } from './step-runner.ts';

export class HostStepRunner implements StepRunner {
  readonly model: ModelRunner;
  readonly #sampler: Sampler;
  readonly #threads: SamplingThreads;

  /** Owns the model and the threads. Without threads the caller's one samples all rows. */
  constructor(model: ModelRunner, threads = new SamplingThreads({ threadCount: 0 })) {
    this.model = model;
    this.#sampler = new Sampler(model.facts.vocabSize);
    this.#threads = threads;
  }

  async run(plan: StepPlan, fillMasks: () => StepMasks): Promise<readonly (SampledRow | Error)[]> {
    // Masks are filled while the model computes in another thread.
    const mayBlock = plan.rows.every(({ sequence }) => sequence.constraint === null);
    const { logits, masks } = await computeAndMask(this.model.run(plan.rows, { mayBlock }), fillMasks);
    return sampleStep(this.#sampler, this.#threads, plan, logits, masks);
  }

  async close(): Promise<void> {
    await this.#threads.dispose();
    await this.model.close();
  }
}
