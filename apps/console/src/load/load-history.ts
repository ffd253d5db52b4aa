// What the samples of the last minutes say: rates, shares and quantiles. Pure.

import type { AppRouter } from '@ortler/api';
import type { inferRouterOutputs } from '@trpc/server';

type Outputs = inferRouterOutputs<AppRouter>['server'];
export type ServerFacts = Outputs['facts'];
export type LoadSample = Outputs['load'] extends AsyncIterable<infer Sample> ? Sample : never;
export type ModelLoad = LoadSample['models'][number];
export type Durations = ModelLoad['firstToken'];

/** Samples that are kept: five minutes. */
export const HISTORY_LENGTH = 300;
/** Quantiles and shares are of the requests of this time. Unit: milliseconds. */
const WINDOW_MS = 60_000;

/** Adds a sample. After a restart of the server its counters begin again, and so does the history. */
export function pushSample(history: readonly LoadSample[], sample: LoadSample): readonly LoadSample[] {
  const last = history.at(-1);
  if (last !== undefined && hasRestarted(last, sample)) return [sample];
  return [...history.slice(-(HISTORY_LENGTH - 1)), sample];
}

function hasRestarted(before: LoadSample, after: LoadSample): boolean {
  return total(after.routes) < total(before.routes);
}

const total = (routes: LoadSample['routes']) => routes.reduce((sum, { count }) => sum + count, 0);

/** Points of a chart: one for each sample. */
export interface LoadSeries {
  /** Unit: seconds since 1970. */
  readonly times: readonly number[];
  readonly running: readonly number[];
  readonly waiting: readonly number[];
  /** Generated tokens per second; null for the first sample. */
  readonly tokenRate: readonly (number | null)[];
  /** Share of the KV cache in use, 0 to 1. */
  readonly cacheUsed: readonly number[];
}

/** The series of all models together, or of one. The share of the cache is that of the fullest model. */
export function toSeries(history: readonly LoadSample[], modelId: string | null): LoadSeries {
  const models = history.map(sample => sample.models.filter(({ id }) => modelId === null || id === modelId));
  const sumOf = (read: (model: ModelLoad) => number) =>
    models.map(each => each.reduce((sum, model) => sum + read(model), 0));
  return {
    times: history.map(({ atMs }) => atMs / 1000),
    running: sumOf(model => model.runningCount),
    waiting: sumOf(model => model.waitingCount),
    tokenRate: toRates(
      history.map(({ atMs }) => atMs),
      sumOf(model => model.generatedTokenCount),
    ),
    cacheUsed: models.map(each => Math.max(0, ...each.map(model => model.cacheUsedShare))),
  };
}

/** Per second. A counter that fell (a model was unloaded) has no rate there. */
export function toRates(timesMs: readonly number[], counts: readonly number[]): readonly (number | null)[] {
  return counts.map((count, index) => {
    const before = counts[index - 1];
    const elapsedMs = timesMs[index]! - (timesMs[index - 1] ?? 0);
    if (before === undefined || count < before || elapsedMs <= 0) return null;
    return ((count - before) * 1000) / elapsedMs;
  });
}

/** The samples at both ends of the last minute; undefined before there are two. */
export function windowOf(
  history: readonly LoadSample[],
): { readonly from: LoadSample; readonly to: LoadSample } | undefined {
  const to = history.at(-1);
  const from = history.find(({ atMs }) => to !== undefined && to.atMs - atMs <= WINDOW_MS);
  return to === undefined || from === undefined || from === to ? undefined : { from, to };
}

/** Share of the looked up prompt tokens that were in the prefix cache; null where none was looked up. */
export function hitShare(before: ModelLoad | undefined, after: ModelLoad): number | null {
  const queries = after.cacheQueryTokenCount - (before?.cacheQueryTokenCount ?? 0);
  const hits = after.cacheHitTokenCount - (before?.cacheHitTokenCount ?? 0);
  return queries <= 0 ? null : hits / queries;
}

/**
 * A quantile of the durations between two samples, interpolated in its bucket as Prometheus does. Past the last bound it is that
 * bound. Null where there are none. Unit: seconds.
 */
export function quantileOf(before: Durations | undefined, after: Durations, quantile: number): number | null {
  const count = after.count - (before?.count ?? 0);
  if (count <= 0) return null;
  const counts = after.counts.map((value, index) => value - (before?.counts[index] ?? 0));
  const rank = quantile * count;
  const index = counts.findIndex(value => value >= rank);
  if (index === -1) return after.bounds.at(-1) ?? null;
  const lower = index === 0 ? 0 : after.bounds[index - 1]!;
  const below = index === 0 ? 0 : counts[index - 1]!;
  const inside = counts[index]! - below;
  const share = inside === 0 ? 1 : (rank - below) / inside;
  return lower + (after.bounds[index]! - lower) * share;
}
