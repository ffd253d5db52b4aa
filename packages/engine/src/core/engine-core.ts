// The token side of one model: requests in, tokens out, one step at a time. It knows ids and numbers only.
// Callers: the links. A step is a transaction, plan -> reserve -> run -> sample -> commit: whatever throws
// before the commit has changed no sequence, so the same step is simply tried again.

import type { TokenVocabulary } from '@ortler/structured-output';
import { EngineError } from '../errors.ts';
import type { CoreStats } from '../protocol/core-stats.ts';
import type {
  CoreFacts,
  FatalMessage,
  RequestFailedMessage,
  SequenceUpdate,
  StepMessage,
  SubmitMessage,
} from '../protocol/messages.ts';
import { toRequestFailedMessage } from '../protocol/request-failure.ts';
import { CoreConstraints } from './answer-constraint/core-constraints.ts';
import { checkSubmission } from './check-submission.ts';
import {
  type EngineCoreSettings,
  type SettledCoreSettings,
  settleCoreSettings,
  toCoreFacts,
} from './core-settings.ts';
import { createKvCacheManager } from './kv-cache/create-kv-cache-manager.ts';
import type { KvCacheManager } from './kv-cache/kv-cache-manager.ts';
import type { ModelRunner } from './runners/model-runner.ts';
import { Sampler } from './sampling/sampler.ts';
import { LoadEstimate, type RunningLength } from './scheduler/load-estimate.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { StepPlan } from './scheduler/step-plan.ts';
import { createSequenceGroup, Sequence, type SequenceGroup } from './sequence.ts';
import { commitStep } from './step/commit-step.ts';
import type { SampledRow } from './step/sample-step.ts';
import { StepFailures } from './step/step-failures.ts';
import { createHostStepSampler, type StepSampler } from './step/step-runner.ts';

/** What a step has to tell the text side. */
export type CoreOutput = StepMessage | RequestFailedMessage | FatalMessage;

export class EngineCore {
  readonly facts: CoreFacts;
  readonly #runner: ModelRunner;
  readonly #stepSampler: StepSampler;
  readonly #cache: KvCacheManager;
  readonly #constraints = new CoreConstraints();
  readonly #failures: StepFailures;
  readonly #load = new LoadEstimate();
  readonly #scheduler: Scheduler;
  readonly #groups = new Map<number, SequenceGroup>();
  readonly #settings: SettledCoreSettings;
  /** Aborted since the last drain; a step in flight must not see its sequences change. */
  #aborted = new Set<Sequence>();
  #stepCount = 0;
  #draftedTokenCount = 0;
  #acceptedTokenCount = 0;
  #isStepping = false;
  #isClosed = false;

  constructor(runner: ModelRunner, settings: EngineCoreSettings) {
    this.#runner = runner;
    this.#stepSampler =
      settings.stepSampler ?? createHostStepSampler(runner, new Sampler(runner.facts.vocabSize));
    const { slotCount, logitsLimit } = runner.facts;
    const settled = settleCoreSettings(settings, runner.facts);
    const { maxSequences, cacheBlockLength: indexBlockLength } = settled;
    this.#settings = settled;
    this.#failures = new StepFailures(settled);
    this.#cache = createKvCacheManager(runner, { ...settled, indexBlockLength });
    const limits = { ...settled, promptLogitsLimit: logitsLimit - slotCount };
    this.#scheduler = new Scheduler(this.#cache, limits, settled.drafter);
    this.facts = toCoreFacts(runner.facts, maxSequences, settings);
  }

  /** Whether `step` has something to do. */
  get hasWork(): boolean {
    return this.#scheduler.hasWork || this.#aborted.size > 0;
  }

  get stats(): CoreStats {
    const { queriedTokenCount, hitTokenCount } = this.#cache.counters;
    const { deviceStats } = this.#stepSampler;
    return {
      runningCount: this.#cache.ownedCount,
      waitingCount: this.#scheduler.waitingCount,
      freeSlotCount: this.#cache.freeCount,
      cacheUsedShare: this.#cache.usedShare,
      stepCount: this.#stepCount,
      preemptionCount: this.#scheduler.preemptionCount,
      cacheQueryTokenCount: queriedTokenCount,
      cacheHitTokenCount: hitTokenCount,
      draftedTokenCount: this.#draftedTokenCount,
      acceptedTokenCount: this.#acceptedTokenCount,
      ...(deviceStats === undefined ? {} : { deviceSampling: deviceStats }),
    };
  }

  /** What the tokens' bytes are. Must come before the first request with a constraint. */
  setVocabulary(vocabulary: TokenVocabulary): void {
    this.#constraints.setVocabulary(vocabulary);
  }

  /**
   * Takes a request in. Legal at any moment, also while a step runs.
   * Throws: `overloaded` with `retryAfterMs`, `invalid_request`, `prompt_too_long`, `engine_closed`.
   */
  submit(message: SubmitMessage): void {
    if (this.#isClosed) throw new EngineError('engine_closed', 'The model was closed.');
    const { requestId } = message;
    if (this.#groups.has(requestId)) throw new Error(`Request ${requestId} was submitted twice.`);
    checkSubmission(message, {
      ...this.facts,
      schedulingPolicy: this.#settings.schedulingPolicy,
      maxQueuedSequences: this.#settings.maxQueuedSequences,
      waitingCount: this.#scheduler.queuedCount,
      freeSlotCount: this.#scheduler.availableSlotCount,
      estimateWaitMs: endCount => this.#load.waitMs(endCount, this.#scheduler.running.map(toRunningLength)),
    });
    const constraints = this.#constraints.start(message);
    const group = createSequenceGroup(message, this.#settings.now());
    this.#groups.set(requestId, group);
    for (let choiceIndex = 0; choiceIndex < message.choiceCount; choiceIndex++) {
      const sequence = new Sequence(group, choiceIndex, constraints[choiceIndex]);
      group.openSequences.add(sequence);
      this.#scheduler.add(sequence);
    }
  }

  /**
   * Ends one choice, or the whole request. Takes effect with the next step, which reports the end with reason
   * `abort`. Legal at any moment and any number of times; unknown requests are ignored.
   */
  abort(requestId: number, choiceIndex?: number): void {
    const group = this.#groups.get(requestId);
    if (group === undefined) return;
    for (const sequence of group.openSequences) {
      if (choiceIndex === undefined || sequence.choiceIndex === choiceIndex) this.#aborted.add(sequence);
    }
  }

  /**
   * Tells that the reader of a choice has fallen behind or has caught up. Takes effect with the next step. Legal at any
   * moment and any number of times; unknown choices are ignored.
   */
  setPaused(requestId: number, choiceIndex: number, state: { readonly isPaused: boolean }): void {
    for (const sequence of this.#groups.get(requestId)?.openSequences ?? []) {
      if (sequence.choiceIndex === choiceIndex) this.#scheduler.setPaused(sequence, state);
    }
  }

  /**
   * Computes one step and says what came of it, in order; empty when there was nothing to do or the step failed
   * and will be tried again by the next call. Calls must not overlap.
   * Throws: `engine_closed`. Failures of the model are messages, not exceptions.
   */
  async step(): Promise<readonly CoreOutput[]> {
    if (this.#isClosed) throw new EngineError('engine_closed', 'The model was closed.');
    if (this.#isStepping) throw new Error('step() was called while a step was running.');
    this.#isStepping = true;
    try {
      return await this.#step();
    } finally {
      this.#isStepping = false;
    }
  }

  async #step(): Promise<readonly CoreOutput[]> {
    const updates: SequenceUpdate[] = [];
    this.#endAborted(this.#takeAborted(), updates);
    const plan = this.#scheduler.plan();
    if (plan === null) return updates.length === 0 ? [] : [this.#toStepMessage(updates, [])];

    const startedAtMs = this.#settings.now();
    for (const { sequence } of plan.rows) sequence.group.startedAtMs ??= startedAtMs;
    let sampled: readonly (SampledRow | Error)[];
    try {
      sampled = await this.#stepSampler.sample(plan, () => this.#constraints.fillMasks(plan.rows));
    } catch (cause) {
      const outputs = this.#handleFailure(plan, cause);
      if (updates.length === 0 && outputs.length === 0) return [];
      // Failed requests have left: the message also tells how many run now.
      return [this.#toStepMessage(updates, []), ...outputs];
    }

    const aborted = this.#takeAborted();
    const endedAtMs = this.#settings.now();
    const committed = commitStep(plan, sampled, aborted, endedAtMs);
    this.#load.stepTook(endedAtMs - startedAtMs);
    for (const { outputTokenIds } of committed.ended) this.#load.answerEnded(outputTokenIds.length);
    this.#end(committed.ended, { keepsPrefix: true });
    for (const sequence of committed.advanced) if (sequence.slot !== null) this.#cache.publish(sequence);
    updates.push(...committed.updates);
    this.#endAborted(aborted, updates);
    const failures = committed.failed.flatMap(({ sequence, error }) =>
      this.#failRequest(sequence.group, error),
    );
    this.#draftedTokenCount += committed.draftedTokenCount;
    this.#acceptedTokenCount += committed.acceptedTokenCount;
    this.#stepCount++;
    this.#failures.stepCommitted();
    return [this.#toStepMessage(updates, committed.prefilled), ...failures];
  }

  /** Violations of the cache bookkeeping; empty when all is well. For tests and diagnosis. */
  findViolations(): string[] {
    return this.#cache.findViolations(this.#runner.facts.contextLength);
  }

  /** Frees the model. Must not be called while a step runs; open requests end without a message. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#isStepping) throw new Error('close() was called while a step was running.');
    this.#isClosed = true;
    await this.#stepSampler.dispose();
    await this.#runner.close();
  }

  #handleFailure(plan: StepPlan, cause: unknown): readonly CoreOutput[] {
    const givenUp = this.#failures.attemptFailed(cause);
    if (givenUp === null) return [];
    const { error, fatal } = givenUp;
    const failed = plan.rows.flatMap(row => this.#failRequest(row.sequence.group, error));
    return fatal === undefined ? failed : [...failed, fatal];
  }

  /** Ends all choices of a request. Empty when they have ended. */
  #failRequest({ requestId, openSequences }: SequenceGroup, error: Error): RequestFailedMessage[] {
    if (openSequences.size === 0) return [];
    for (const sequence of openSequences) this.#aborted.delete(sequence);
    // What a failed call left in the slot is not worth the risk of a later hit.
    this.#end([...openSequences], { keepsPrefix: false });
    const failure = error instanceof EngineError ? error : new EngineError('engine_failed', error.message);
    return [toRequestFailedMessage(requestId, failure)];
  }

  #takeAborted(): ReadonlySet<Sequence> {
    const aborted = this.#aborted;
    if (aborted.size > 0) this.#aborted = new Set();
    return aborted;
  }

  /** Mutates: appends an `abort` end for each aborted sequence that had not ended by itself. */
  #endAborted(aborted: ReadonlySet<Sequence>, updates: SequenceUpdate[]): void {
    const open = [...aborted].filter(sequence => sequence.group.openSequences.has(sequence));
    for (const { group, choiceIndex } of open) {
      const finish = { reason: 'abort', stopTokenId: null } as const;
      updates.push({ requestId: group.requestId, choiceIndex, tokenIds: [], finish });
    }
    this.#end(open, { keepsPrefix: true });
  }

  /** Forgets sequences that ended and frees their slots. */
  #end(sequences: readonly Sequence[], options: { readonly keepsPrefix: boolean }): void {
    for (const sequence of sequences) {
      const { group } = sequence;
      group.openSequences.delete(sequence);
      sequence.constraint?.dispose();
      if (group.openSequences.size === 0) this.#groups.delete(group.requestId);
      this.#scheduler.remove(sequence, options);
    }
  }

  #toStepMessage(updates: readonly SequenceUpdate[], prefilled: StepMessage['prefilled']): StepMessage {
    return { kind: 'step', updates, prefilled, stats: this.stats };
  }
}

function toRunningLength({ outputTokenIds, group }: Sequence): RunningLength {
  return { outputLength: outputTokenIds.length, maxTokens: group.submitted.maxTokens };
}
