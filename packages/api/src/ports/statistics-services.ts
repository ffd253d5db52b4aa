// Ports of what the server reports about itself: constant facts, samples of its load for live views, and its
// API keys.

import type { RateLimits } from './rate-limiting.ts';

/** Seconds, in the buckets of Prometheus: `counts[i]` values were at most `bounds[i]`. Since the start. */
export interface Durations {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** Load of one model now, and its counters since the start. */
export interface ModelLoad {
  readonly id: string;
  readonly runningCount: number;
  readonly waitingCount: number;
  /** Share of the KV cache held by running sequences, 0 to 1. */
  readonly cacheUsedShare: number;
  /** Prefix caching: prompt tokens that were looked up, and those of them that were found. */
  readonly cacheQueryTokenCount: number;
  readonly cacheHitTokenCount: number;
  readonly preemptionCount: number;
  /** Of ended requests. */
  readonly promptTokenCount: number;
  /** Counted as they are generated. */
  readonly generatedTokenCount: number;
  /** Time to first token, of ended requests. */
  readonly firstToken: Durations;
  /** Time between tokens, of ended requests. */
  readonly tokenGap: Durations;
}

/** Answered HTTP requests since the start. */
export interface RouteCount {
  readonly method: string;
  readonly route: string;
  /** Class of the status: `2xx`. */
  readonly status: string;
  readonly count: number;
}

export interface LoadSample {
  /** Unit: milliseconds since 1970. */
  readonly atMs: number;
  /** Resident memory of the server process, without model processes. */
  readonly residentBytes: number;
  readonly models: readonly ModelLoad[];
  readonly routes: readonly RouteCount[];
}

/** One setting that limits requests, as the operator sees it. */
export interface LimitFact {
  readonly flag: string;
  readonly description: string;
  readonly value: string;
}

/** A configured model, or a checkpoint that is loaded or loading. */
export interface ModelFacts {
  readonly id: string;
  /** `own`: configured, with an engine of this server; `upstream`: configured, and other servers answer. */
  readonly kind: 'own' | 'checkpoint' | 'upstream';
  readonly state: 'loading' | 'ready' | 'restarting' | 'failed';
  /** What it waits for, how far it is, or why it failed. */
  readonly detail: string;
  /** Null while it is not ready. */
  readonly engine: {
    readonly modelType: string;
    readonly parameterCount: number;
    readonly precision: string;
    readonly kvType: string;
    readonly device: string;
    readonly contextLength: number;
    readonly maxSequences: number;
    /** Graph and weights. Files that are mapped are in memory only as far as they were read. */
    readonly weightBytes: number;
    /** KV caches, as reserved. */
    readonly cacheBytes: number;
    readonly restartCount: number;
  } | null;
  /** Null unless other servers answer. */
  readonly upstream: {
    /** The model's name there. */
    readonly name: string;
    /** Null: unknown. */
    readonly contextLength: number | null;
    readonly servers: readonly {
      readonly breaker: 'closed' | 'half_open' | 'open';
      readonly openCount: number;
    }[];
  } | null;
}

export interface ServerFacts {
  readonly version: string;
  /** How the operator runs a command of the server, for hints: `ortler`, or in a clone `npm run ortler --`. */
  readonly command: string;
  /** Unit: milliseconds since 1970. */
  readonly startedAtMs: number;
  readonly toolCalling: boolean;
  readonly limits: readonly LimitFact[];
  readonly models: readonly ModelFacts[];
}

export interface ServerStatistics {
  facts(): ServerFacts;
  /** A sample now and one each second, until the signal fires or the server stops. */
  samples(signal: AbortSignal): AsyncIterable<LoadSample>;
}

/** An API key without its secret. */
export interface KeyFacts {
  readonly id: string;
  /** Purpose of the key, for people. */
  readonly name: string;
  /** Null: it has access to the data of all teams. */
  readonly team: string | null;
  /** ISO 8601, UTC; null for the key of the configuration. */
  readonly createdAt: string | null;
  /** Rate limits other than those of the configuration; null: none. */
  readonly limits: Partial<RateLimits>;
}

export interface KeyDirectory {
  /** Keys that are valid now, oldest first. */
  list(): readonly KeyFacts[];
}
