// The token side of one model: requests in, tokens out, one step at a time (continuous batching). It knows ids and numbers
// only. Callers: the links. A step is a transaction: the scheduler plans it, the step runner runs it, and the commit alone
// changes sequences by its result. A failed run has changed no token of them, so the same step is tried again.

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
  type CacheBlocks,
  type EngineCoreSettings,
  type SettledCoreSettings,
  settleCoreSettings,
  toCoreFacts,
} from './core-settings.ts';
import { CacheEventLog } from './kv-cache/cache-event-log.ts';
import { createKvCacheManager } from './kv-cache/create-kv-cache-manager.ts';
import type { KvCacheManager } from './kv-cache/kv-cache-manager.ts';
import type { ModelRunner } from './runners/model-runner.ts';
import { LoadEstimate, type RunningLength } from './scheduler/load-estimate.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { StepPlan } from './scheduler/step-plan.ts';
import { createSequenceGroup, Sequence, type SequenceGroup } from './sequence.ts';
import { commitStep } from './step/commit-step.ts';
import type { SampledRow } from './step/sample-step.ts';
import { StepFailures } from './step/step-failures.ts';
import type { StepRunner } from './step/step-runner.ts';
import { StepSizeCounter } from './step/step-size-counter.ts';

/** Messages of a step to the text side. */
export type CoreOutput = StepMessage | RequestFailedMessage | FatalMessage;

/** The result of a run, and its times. Unit: milliseconds. */
interface SampledRun {
  readonly kind: 'sampled';
  /** For each row of the plan. */
  readonly rows: readonly (SampledRow | Error)[];
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

type StepRun = SampledRun | { readonly kind: 'failed'; readonly cause: unknown };

export class EngineCore {
  readonly facts: CoreFacts;
  readonly #stepRunner: StepRunner;
  readonly #cache: KvCacheManager;
  readonly #cacheEvents: CacheEventLog | null;
  readonly #constraints = new CoreConstraints();
  readonly #failures: StepFailures;
  readonly #load = new LoadEstimate();
  readonly #scheduler: Scheduler;
  readonly #groups = new Map<number, SequenceGroup>();
  readonly #settings: SettledCoreSettings;
  /** Aborted since the last drain; a step in flight must not see its sequences change. */
  #aborted = new Set<Sequence>();
  #stepCount = 0;
  readonly #stepSizes = new StepSizeCounter();
  #draftedTokenCount = 0;
  #acceptedTokenCount = 0;
  #isStepping = false;
  #isClosed = false;

  /** Owns the step runner. */
  constructor(stepRunner: StepRunner, settings: EngineCoreSettings) {
    this.#stepRunner = stepRunner;
    const { model } = stepRunner;
    const { slotCount, logitsLimit } = model.facts;
    const settled = settleCoreSettings(settings, model.facts);
    const { maxSequences, cacheBlockLength: indexBlockLength } = settled;
    this.#settings = settled;
    this.#failures = new StepFailures(settled);
    this.#cacheEvents = settings.cacheEvents === true ? new CacheEventLog() : null;
    this.#cache = createKvCacheManager(model, { ...settled, indexBlockLength, events: this.#cacheEvents });
    const limits = { ...settled, promptLogitsLimit: logitsLimit - slotCount };
    this.#scheduler = new Scheduler(this.#cache, limits, settled.drafter);
    this.facts = toCoreFacts(model.facts, maxSequences, {
      ...settings,
      ...cacheBlocksOf(model, indexBlockLength),
    });
  }

  /** Whether `step` has work. */
  get hasWork(): boolean {
    return this.#scheduler.hasWork || this.#aborted.size > 0;
  }

  get stats(): CoreStats {
    const { queriedTokenCount, hitTokenCount } = this.#cache.counters;
    const { deviceStats } = this.#stepRunner;
    return {
      runningCount: this.#cache.ownedCount,
      waitingCount: this.#scheduler.waitingCount,
      freeSlotCount: this.#cache.freeCount,
      cacheUsedShare: this.#cache.usedShare,
      stepCount: this.#stepCount,
      stepSizes: this.#stepSizes.read(),
      preemptionCount: this.#scheduler.preemptionCount,
      cacheQueryTokenCount: queriedTokenCount,
      cacheHitTokenCount: hitTokenCount,
      draftedTokenCount: this.#draftedTokenCount,
      acceptedTokenCount: this.#acceptedTokenCount,
      ...(deviceStats === undefined ? {} : { deviceSampling: deviceStats }),
    };
  }

  /** The bytes of each token. Must come before the first request with a constraint. */
  setVocabulary(vocabulary: TokenVocabulary): void {
    this.#constraints.setVocabulary(vocabulary);
  }

  /**
   * Submits a request. Legal at any moment, also while a step runs.
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
      waitingOfShareCount: this.#scheduler.countQueuedOf(message.share ?? ''),
      freeSlotCount: this.#scheduler.availableSlotCount,
      estimateWaitMs: endCount => this.#load.waitMs(endCount, this.#scheduler.running.map(toRunningLength)),
    });
    const constraints = this.#constraints.start(message);
    const group = createSequenceGroup(message, this.#settings.now(), this.#scheduler.turnOf(message));
    this.#groups.set(requestId, group);
    for (let choiceIndex = 0; choiceIndex < message.choiceCount; choiceIndex++) {
      this.#scheduler.add(new Sequence(group, choiceIndex, constraints[choiceIndex]));
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
   * Backpressure: pauses a choice while its reader is slow. Takes effect with the next step. Legal at any moment and any
   * number of times; unknown choices are ignored.
   */
  setPaused(requestId: number, choiceIndex: number, state: { readonly isPaused: boolean }): void {
    for (const sequence of this.#groups.get(requestId)?.openSequences ?? []) {
      if (sequence.choiceIndex === choiceIndex) this.#scheduler.setPaused(sequence, state);
    }
  }

  /**
   * Computes one step and returns its messages, in order; none when there was nothing to do, or when the step failed and
   * the next call tries it again. Calls must not overlap.
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
    const aborted = this.#endAborted(this.#takeAborted());
    const plan = this.#scheduler.schedule(this.#settings.now());
    if (plan === null) return this.#report(aborted);
    const run = await this.#run(plan);
    return run.kind === 'sampled' ? this.#commit(plan, run, aborted) : this.#giveUp(plan, run.cause, aborted);
  }

  async #run(plan: StepPlan): Promise<StepRun> {
    const startedAtMs = this.#settings.now();
    try {
      const rows = await this.#stepRunner.run(plan, () => this.#constraints.fillMasks(plan.rows));
      return { kind: 'sampled', rows, startedAtMs, endedAtMs: this.#settings.now() };
    } catch (cause) {
      return { kind: 'failed', cause };
    }
  }

  /** Commits the results of the step, except for choices that were aborted meanwhile, and releases sequences that ended. */
  #commit(plan: StepPlan, run: SampledRun, endedBefore: readonly SequenceUpdate[]): readonly CoreOutput[] {
    const aborted = this.#takeAborted();
    const committed = commitStep(plan, run.rows, aborted, run.endedAtMs);
    this.#load.stepTook(run.endedAtMs - run.startedAtMs);
    for (const { outputTokenIds } of committed.ended) this.#load.answerEnded(outputTokenIds.length);
    this.#end(committed.ended, { keepsPrefix: true });
    for (const sequence of committed.advanced) if (sequence.slot !== null) this.#cache.publish(sequence);
    const updates = [...endedBefore, ...committed.updates, ...this.#endAborted(aborted)];
    const failures = committed.failed.flatMap(({ sequence, error }) =>
      this.#failRequest(sequence.group, error),
    );
    this.#draftedTokenCount += committed.draftedTokenCount;
    this.#acceptedTokenCount += committed.acceptedTokenCount;
    this.#stepCount++;
    this.#stepSizes.add(plan.rows.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0));
    this.#failures.stepCommitted();
    return [this.#toStepMessage(updates, committed.prefilled), ...failures];
  }

  /** Changes no sequence, so that the step can be tried again; after too many attempts its requests fail. */
  #giveUp(plan: StepPlan, cause: unknown, endedBefore: readonly SequenceUpdate[]): readonly CoreOutput[] {
    const givenUp = this.#failures.attemptFailed(cause);
    if (givenUp === null) return this.#report(endedBefore);
    const { error, fatal } = givenUp;
    const failed = plan.rows.flatMap(row => this.#failRequest(row.sequence.group, error));
    return this.#report(endedBefore, fatal === undefined ? failed : [...failed, fatal]);
  }

  /** The message of a step without a commit. It carries the statistics, so failures have one as well. */
  #report(updates: readonly SequenceUpdate[], failures: readonly CoreOutput[] = []): readonly CoreOutput[] {
    if (updates.length === 0 && failures.length === 0) return [];
    return [this.#toStepMessage(updates, []), ...failures];
  }

  /** Violations of the cache bookkeeping; empty when all is well. For tests and diagnosis. */
  findViolations(): string[] {
    return this.#cache.findViolations(this.#stepRunner.model.facts.contextLength);
  }

  /** Frees the model. Must not be called while a step runs; open requests end without a message. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#isStepping) throw new Error('close() was called while a step was running.');
    this.#isClosed = true;
    await this.#stepRunner.close();
  }

  /** Ends all choices of a request. Empty when they have ended. */
  #failRequest({ requestId, openSequences }: SequenceGroup, error: Error): RequestFailedMessage[] {
    if (openSequences.size === 0) return [];
    for (const sequence of openSequences) this.#aborted.delete(sequence);
    // The content that a failed call left in the cache is dropped, because a later cache hit could read wrong values.
    this.#end([...openSequences], { keepsPrefix: false });
    const failure = error instanceof EngineError ? error : new EngineError('engine_failed', error.message);
    return [toRequestFailedMessage(requestId, failure)];
  }

  #takeAborted(): ReadonlySet<Sequence> {
    const aborted = this.#aborted;
    if (aborted.size > 0) this.#aborted = new Set();
    return aborted;
  }

  /** Ends aborted sequences. Returns their ends, except for those that had already ended. */
  #endAborted(aborted: ReadonlySet<Sequence>): readonly SequenceUpdate[] {
    const open = [...aborted].filter(sequence => sequence.group.openSequences.has(sequence));
    this.#end(open, { keepsPrefix: true });
    const finish = { reason: 'abort', stopTokenId: null } as const;
    return open.map(({ group, choiceIndex }) => {
      return { requestId: group.requestId, choiceIndex, tokenIds: [], finish };
    });
  }

  /** Forgets sequences that ended and frees their slots. */
  #end(sequences: readonly Sequence[], options: { readonly keepsPrefix: boolean }): void {
    for (const sequence of sequences) {
      const { group, constraint } = sequence;
      this.#scheduler.remove(sequence, options);
      constraint?.dispose();
      if (group.openSequences.size === 0) this.#groups.delete(group.requestId);
    }
  }

  #toStepMessage(updates: readonly SequenceUpdate[], prefilled: StepMessage['prefilled']): StepMessage {
    const cacheEvents = this.#cacheEvents?.take() ?? [];
    const changes = cacheEvents.length === 0 ? {} : { cacheEvents };
    return { kind: 'step', updates, prefilled, stats: this.stats, ...changes };
  }
}

/** The blocks in which prompts are found again. Of slots: the units of their index. */
function cacheBlocksOf(model: ModelRunner, indexBlockLength: number): CacheBlocks {
  if (model.cacheKind === 'blocks')
    return { cacheBlockLength: model.blockLength, cacheBlockCount: model.blockCount };
  const { slotCount, contextLength } = model.facts;
  return {
    cacheBlockLength: indexBlockLength,
    cacheBlockCount: slotCount * Math.floor(contextLength / indexBlockLength),
  };
}

function toRunningLength({ outputTokenIds, group }: Sequence): RunningLength {
  return { outputLength: outputTokenIds.length, maxTokens: group.submitted.maxTokens };
}
