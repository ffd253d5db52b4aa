// Random load with aborts, pauses and preemptions on a tiny real model, for as long as it is told: the bookkeeping is
// checked after every step, memory must stay flat, and at the end every slot must be free.
//
//     node --conditions=@ortler/source bench/engine/soak.bench.ts --minutes 30

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type EngineCore, loadCore, NEUTRAL_SAMPLING, type SubmitMessage } from '@ortler/engine/testing';
import { buildModel } from '@ortler/model-builder';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { describeMachine } from '../describe-machine.ts';
import { median } from '../median.ts';

const HELP = `Options:
  --minutes N    how long the load goes on (default 0.1)
  --seed N       of the load (default 1)`;

const CONTEXT_LENGTH = 256;
/** Times that memory is read, evenly over the run, after garbage was collected. */
const READING_COUNT = 20;
/** The first part of the run fills caches and compiles code; memory counts from its end on. */
const WARM_UP_SHARE = 0.3;
/**
 * What memory may grow by after that. The heap was collected, so it tells of leaks; what the process has of the machine
 * also follows the room that V8 keeps for young objects, 48 MiB at most. Unit: bytes.
 */
const GROWTH_LIMIT_BYTES = { heap: 2 * 2 ** 20, resident: 56 * 2 ** 20 };
/** Several applications, each with its own beginning of every prompt. */
const BEGINNING_COUNT = 6;

interface MemoryReading {
  readonly minute: number;
  /** JavaScript objects, and the arrays and native memory they hold on to. Unit: bytes. */
  readonly heap: number;
  /** What the process has of the machine. Unit: bytes. */
  readonly resident: number;
}

interface Open {
  readonly requestId: number;
  readonly choiceCount: number;
  openChoices: number;
  isPaused: boolean;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '0.1' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const durationMs = Number(values.minutes) * 60_000;
  if (!(durationMs > 0)) throw new Error(`--minutes takes a number above 0; got "${values.minutes}".`);
  const scratch = await mkdtemp(join(tmpdir(), 'ortler-soak-'));
  try {
    const sourceDir = join(scratch, 'checkpoint');
    const modelDir = join(scratch, 'model');
    await createTinyCheckpoint(sourceDir, {});
    await buildModel({ sourceDir, outputDir: modelDir, precision: 'f32' });
    const core = await loadCore({
      modelDir,
      device: 'cpu',
      threadCount: 1,
      maxSequences: 6,
      contextLength: CONTEXT_LENGTH,
      schedulingPolicy: 'priority',
      tuning: { prefillChunkLength: 64, mixedChunkLength: 16, maxQueuedSequences: 12, cacheSlots: 3 },
    });
    const load = new RandomLoad(core, Number(values.seed));
    const result = await load.run(durationMs);
    await core.close();
    console.log(JSON.stringify({ bench: 'soak', ...result, ...describeMachine() }, null, 2));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

class RandomLoad {
  readonly #core: EngineCore;
  readonly #open = new Map<number, Open>();
  #state: number;
  #nextId = 1;
  #refusedCount = 0;
  #abortedCount = 0;

  constructor(core: EngineCore, seed: number) {
    this.#core = core;
    this.#state = seed;
  }

  /** Throws: when the bookkeeping is wrong, memory grows or a slot is not free at the end. */
  async run(durationMs: number) {
    const startMs = performance.now();
    const readings: MemoryReading[] = [];
    for (;;) {
      const elapsedMs = performance.now() - startMs;
      if (elapsedMs >= ((readings.length + 1) * durationMs) / READING_COUNT) {
        const reading = readMemory(elapsedMs / 60_000);
        readings.push(reading);
        console.error(JSON.stringify({ ...reading, requestCount: this.#nextId - 1 }));
      }
      if (elapsedMs >= durationMs) break;
      this.#disturb();
      await this.#step();
    }
    for (const open of this.#open.values()) this.#setPaused(open, false);
    while (this.#core.hasWork) await this.#step();
    const { stats, facts } = this.#core;
    check(this.#open.size === 0, `${this.#open.size} requests have not ended.`);
    check(stats.freeSlotCount === facts.maxSequences, `${stats.runningCount} slots are not free.`);
    check(stats.waitingCount === 0, `${stats.waitingCount} sequences still wait.`);
    const settled = readings.slice(Math.ceil(WARM_UP_SHARE * readings.length));
    const growthBytes = { heap: growth(settled, 'heap'), resident: growth(settled, 'resident') };
    for (const kind of ['heap', 'resident'] as const)
      check(
        growthBytes[kind] < GROWTH_LIMIT_BYTES[kind],
        `Memory (${kind}) grew by ${growthBytes[kind]} bytes.`,
      );
    return {
      minutes: durationMs / 60_000,
      requestCount: this.#nextId - 1,
      refusedCount: this.#refusedCount,
      abortedCount: this.#abortedCount,
      growthBytes,
      readings,
      ...stats,
    };
  }

  async #step(): Promise<void> {
    for (const output of await this.#core.step()) {
      check(output.kind === 'step', `A step said ${output.kind}.`);
      if (output.kind !== 'step') continue;
      for (const { requestId, finish } of output.updates) {
        const open = this.#open.get(requestId);
        if (finish === undefined || open === undefined) continue;
        open.openChoices--;
        if (open.openChoices === 0) this.#open.delete(requestId);
      }
    }
    const violations = this.#core.findViolations();
    check(violations.length === 0, violations.join(' '));
  }

  /** Something happens before a step: an arrival, an abort, a pause or its end. */
  #disturb(): void {
    const picked = [...this.#open.values()][this.#below(this.#open.size + 1)];
    const action = this.#below(20);
    if (action < 6) this.#submit();
    else if (picked === undefined) return;
    else if (action === 6) {
      this.#abortedCount++;
      this.#core.abort(picked.requestId, this.#below(2) === 0 ? undefined : 0);
    } else if (action < 9 || picked.isPaused) this.#setPaused(picked, !picked.isPaused);
  }

  #submit(): void {
    const requestId = this.#nextId++;
    const beginning = this.#below(BEGINNING_COUNT);
    const sharedLength = this.#below(100);
    const promptTokenIds = Int32Array.from({ length: sharedLength + 1 + this.#below(40) }, (_, i) =>
      i < sharedLength ? (beginning * 41 + i * 17) % 288 : this.#below(288),
    );
    const choiceCount = 1 + this.#below(3);
    const message: SubmitMessage = {
      kind: 'submit',
      requestId,
      promptTokenIds,
      choiceCount,
      sampling: { ...NEUTRAL_SAMPLING, temperature: this.#below(2), seed: BigInt(requestId) },
      maxTokens: 1 + this.#below(60),
      minTokens: 0,
      eosTokenIds: [3],
      stopTokenIds: [],
      minTokensBannedIds: [],
      priority: this.#below(3),
      cachePartition: String(beginning % 2),
    };
    try {
      this.#core.submit(message);
      this.#open.set(requestId, { requestId, choiceCount, openChoices: choiceCount, isPaused: false });
    } catch (error) {
      check((error as { code?: string }).code === 'overloaded', String(error));
      this.#refusedCount++;
    }
  }

  #setPaused(open: Open, isPaused: boolean): void {
    open.isPaused = isPaused;
    for (let choiceIndex = 0; choiceIndex < open.choiceCount; choiceIndex++)
      this.#core.setPaused(open.requestId, choiceIndex, { isPaused });
  }

  /** A whole number from 0 to `limit - 1`. Source: the constants of Numerical Recipes' generator. */
  #below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }
}

/** From the median of the first half of the readings to that of the second. Unit: bytes. */
function growth(readings: readonly MemoryReading[], kind: 'heap' | 'resident'): number {
  const half = readings.length >> 1;
  const values = readings.map(reading => reading[kind]);
  return median(values.slice(half)) - median(values.slice(0, half));
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function readMemory(minute: number): MemoryReading {
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { minute: Number(minute.toFixed(2)), heap: heapUsed + external, resident: rss };
}

function check(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}

await main();
