// A pool of loaded models whose loads and clock are controlled by the test, for the tests of `src/models`.

import type { EngineLease } from '@ortler/api';
import { createFakeEngine, type FakeEngine } from '@ortler/api/testing';
import { it as base, vi } from 'vitest';
import {
  createLoadedModels,
  type LoadedModels,
  type LoadedModelsOptions,
} from '../src/models/loaded-models.ts';

/** One load of one key, pending until the test ends it. */
export interface Load {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly engine: FakeEngine;
  report(detail: string): void;
  succeed(): void;
  fail(error: Error): void;
}

export interface LoadedModelsByHand {
  readonly models: LoadedModels;
  /** Every load in the order they began. */
  readonly loads: Load[];
  readonly failed: string[];
  readonly unloaded: string[];
  /** Time of the clock. Unit: milliseconds. */
  nowMs: number;
  open(key: string, signal?: AbortSignal): Promise<EngineLease>;
  /** The same, and lets the load that this begins succeed. */
  opened(key: string): Promise<EngineLease>;
}

const never = new AbortController().signal;

/** Each test has its own pool and fake timers. */
export const it = base.extend('test', ({ onTestFinished }) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  return createLoadedModelsByHand();
});

/** A capacity of two and an idle time of one second. */
export function createLoadedModelsByHand(options: Partial<LoadedModelsOptions> = {}): LoadedModelsByHand {
  const loads: Load[] = [];
  const failed: string[] = [];
  const unloaded: string[] = [];
  const load = (key: string, signal: AbortSignal, report: Load['report']) => {
    const { promise, resolve, reject } = Promise.withResolvers<FakeEngine>();
    const engine = createFakeEngine();
    loads.push({ key, signal, engine, report, succeed: () => resolve(engine), fail: reject });
    signal.addEventListener('abort', () => reject(signal.reason));
    return promise;
  };
  const test: LoadedModelsByHand = {
    models: createLoadedModels({
      capacity: 2,
      idleMs: 1_000,
      waitMs: 3_600_000,
      now: () => test.nowMs,
      onFailed: name => failed.push(name),
      onUnloaded: name => unloaded.push(name),
      ...options,
    }),
    loads,
    failed,
    unloaded,
    nowMs: 0,
    open: (key, signal = never) =>
      test.models.open({ key, name: key, load: (stop, report) => load(key, stop, report) }, signal),
    async opened(key) {
      const lease = test.open(key);
      await settle();
      loads.at(-1)!.succeed();
      return lease;
    },
  };
  return test;
}

/** Runs all pending microtasks. */
export function settle(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
