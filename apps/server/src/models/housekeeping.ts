// Keeps the builds below the data folder within their limits of age and size, and makes room when the disk is nearly full.

import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type BuiltFolder, markBuildUsed, type PruneResult, pruneBuilds } from '@ortler/model-builder';
import type { Config } from '../config/config.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Several times within the hour for which a build counts as used, so that other servers keep what is loaded here. */
const INTERVAL_MS = 10 * 60 * 1000;

export type HousekeepingSettings = Pick<
  Config,
  'dataDir' | 'buildMaxAgeDays' | 'buildMaxBytes' | 'lowDiskBytes'
>;

export interface HousekeepingOptions {
  readonly settings: HousekeepingSettings;
  /** Folders of the models that are loaded. */
  readonly inUse: () => readonly string[];
  readonly onRemoved: (builds: readonly BuiltFolder[]) => void;
  readonly onFailed: (error: unknown) => void;
}

/** Prunes now and from time to time. Returns a function that ends it. */
export function startHousekeeping({ settings, inUse, onRemoved, onFailed }: HousekeepingOptions): () => void {
  const round = async () => {
    try {
      for (const modelDir of inUse()) await markBuildUsed(modelDir, cacheDirOf(settings), Date.now());
      const { removed } = await pruneByRule(settings, { inUse: inUse() });
      if (removed.length > 0) onRemoved(removed);
    } catch (error) {
      onFailed(error);
    }
  };
  void round();
  const timer = setInterval(() => void round(), INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Prunes once by the settings. */
export async function pruneByRule(
  settings: HousekeepingSettings,
  { inUse, isDryRun = false }: { readonly inUse: readonly string[]; readonly isDryRun?: boolean },
): Promise<PruneResult> {
  const { dataDir, buildMaxAgeDays, buildMaxBytes, lowDiskBytes } = settings;
  const freeBytes = await statfs(dataDir).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => Number.POSITIVE_INFINITY,
  );
  return pruneBuilds({
    cacheDir: cacheDirOf(settings),
    maxAgeMs: buildMaxAgeDays === 0 ? undefined : buildMaxAgeDays * DAY_MS,
    maxBytes: buildMaxBytes === 0 ? undefined : buildMaxBytes,
    neededBytes: Math.max(0, lowDiskBytes - freeBytes),
    inUse,
    isDryRun,
    now: Date.now(),
  });
}

/** The build cache of a data folder. */
export function cacheDirOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'models');
}
