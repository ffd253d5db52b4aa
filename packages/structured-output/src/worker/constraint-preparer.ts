// Prepares constraints and checks finished texts in a worker thread, which is killed when a schema or grammar takes too long.
// Prepared constraints are cached.

import { type JsonValue, printJson } from '@ortler/json';
import { entryModule, KillableWorker } from '@ortler/worker';
import type { PreparedConstraint } from '../constraint.ts';
import { type ConstraintSpec, DEFAULT_CONSTRAINT_LIMITS, type JsonStyle } from '../constraint-spec.ts';
import { ConstraintError } from '../errors.ts';
import { refuseOversize } from '../front-end/refuse-oversize.ts';
import type { TokenVocabulary } from '../token-vocabulary.ts';
import type { ConstraintTask, ConstraintWorkerData } from './constraint-worker-entry.ts';
import { toConstraintError } from './to-constraint-error.ts';

export interface ConstraintPreparerOptions {
  readonly specialTokens: TokenVocabulary['specialTokens'];
  readonly limits?: ConstraintWorkerData['limits'];
  /** Form of JSON where a constraint does not say. */
  readonly style?: JsonStyle;
  /** Default: two seconds. */
  readonly timeLimitMs?: number;
  /** Size of the cache of prepared constraints. Default: 16 MB. */
  readonly cacheBytes?: number;
}

const TIME_LIMIT_MS = 2_000;
const START_LIMIT_MS = 30_000;
/** Heap of the worker; the memory of llguidance is bounded by its own limits. */
const MEMORY_LIMIT_MB = 512;
const QUEUE_LIMIT = 256;
/** As of the engine's queue, so that a caller may send as many requests with a new constraint at once as without one. */
const QUEUE_LIMIT_PER_SHARE = 192;
const CACHE_BYTES = 16 * 2 ** 20;

export class ConstraintPreparer {
  readonly #worker: KillableWorker<ConstraintTask, unknown>;
  readonly #cacheBytes: number;
  readonly #sourceBytes: number;
  readonly #timeLimitMs: number;
  readonly #style: JsonStyle | undefined;
  readonly #prepared = new Map<string, PreparedConstraint>();
  #keptBytes = 0;

  constructor(options: ConstraintPreparerOptions) {
    const timeLimitMs = options.timeLimitMs ?? TIME_LIMIT_MS;
    const { specialTokens, limits = DEFAULT_CONSTRAINT_LIMITS } = options;
    this.#cacheBytes = options.cacheBytes ?? CACHE_BYTES;
    this.#sourceBytes = limits.sourceBytes;
    this.#timeLimitMs = timeLimitMs;
    this.#style = options.style;
    this.#worker = new KillableWorker({
      entry: entryModule('./constraint-worker-entry', import.meta.url),
      workerData: { specialTokens, limits } satisfies ConstraintWorkerData,
      timeLimitMs,
      startLimitMs: START_LIMIT_MS,
      memoryLimitMb: MEMORY_LIMIT_MB,
      queueLimit: QUEUE_LIMIT,
      queueLimitPerShare: QUEUE_LIMIT_PER_SHARE,
    });
  }

  /**
   * @param share Whose request it is: shares take turns. Default: one share of all.
   * Throws: `invalid_constraint`, `overloaded`, `aborted`, `closed`, `failed`.
   */
  async prepare(given: ConstraintSpec, signal?: AbortSignal, share?: string): Promise<PreparedConstraint> {
    refuseOversize(given, this.#sourceBytes);
    const spec = this.#style === undefined ? given : withDefaultStyle(given, this.#style);
    const key = keyOf(spec);
    const kept = key === null ? undefined : this.#prepared.get(key);
    if (key === null || kept === undefined) {
      const prepared = (await this.#run(
        { kind: 'prepare', spec: key ?? spec },
        signal,
        share,
      )) as PreparedConstraint;
      if (key !== null) this.#keep(key, prepared);
      return prepared;
    }
    this.#prepared.delete(key);
    this.#prepared.set(key, kept);
    return kept;
  }

  /**
   * Checks a text that ended by itself; a text that was cut off is not whole and needs no check. `share` as in `prepare`.
   * Throws: `unsatisfied`, `overloaded`, `aborted`, `closed`, `failed`.
   */
  async check(
    prepared: PreparedConstraint,
    text: string,
    signal?: AbortSignal,
    share?: string,
  ): Promise<void> {
    if (prepared.check === null) return;
    try {
      await this.#run({ kind: 'check', schema: prepared.check, text }, signal, share);
    } catch (error) {
      if (!(error instanceof ConstraintError) || error.code !== 'invalid_constraint') throw error;
      const message = 'The generated text could not be checked against its schema in time.';
      throw new ConstraintError('unsatisfied', message, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#worker.close();
  }

  async #run(task: ConstraintTask, signal?: AbortSignal, share?: string): Promise<unknown> {
    try {
      return await this.#worker.run(task, signal, share);
    } catch (error) {
      throw toConstraintError(error, {
        timeout: `The constraint took longer than ${this.#timeLimitMs} ms to prepare.`,
        crashed: 'The constraint is too complex to prepare.',
      });
    }
  }

  /** Mutates: forgets the least recently used ones when there are too many. */
  #keep(key: string, prepared: PreparedConstraint): void {
    if (this.#prepared.has(key)) return;
    this.#prepared.set(key, prepared);
    this.#keptBytes += sizeOf(key, prepared);
    for (const [oldKey, old] of this.#prepared) {
      if (this.#keptBytes <= this.#cacheBytes) return;
      this.#prepared.delete(oldKey);
      this.#keptBytes -= sizeOf(oldKey, old);
    }
  }
}

/** The spec with the style where it is JSON; its own settings take precedence. */
function withDefaultStyle(spec: ConstraintSpec, style: JsonStyle): ConstraintSpec {
  const isJson = 'jsonSchema' in spec || 'jsonObject' in spec || 'structuralTag' in spec || 'tag' in spec;
  return isJson ? { ...spec, style: { ...style, ...spec.style } } : spec;
}

/** Null for a spec that cannot be serialised; the worker then refuses it. */
function keyOf(spec: ConstraintSpec): string | null {
  try {
    return printJson(spec as unknown as JsonValue);
  } catch {
    return null;
  }
}

function sizeOf(key: string, { grammar, check }: PreparedConstraint): number {
  return 2 * (key.length + grammar.text.length + (check?.length ?? 0));
}
