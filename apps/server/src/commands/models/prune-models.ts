// `ortler models prune`: removes built models from the data folder by age and size.

import { formatBytes } from '@ortler/hub';
import type { Config } from '../../config/config.ts';
import { cacheDirOf, pruneByRule } from '../../models/housekeeping.ts';
import type { Terminal } from '../terminal.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A line for each build that is removed. Builds used within the last hour stay, so it may run beside a server. */
export async function pruneModels(
  config: Config,
  { isDryRun }: { readonly isDryRun: boolean },
  { out }: Terminal,
): Promise<void> {
  const { removed, kept } = await pruneByRule(config, { inUse: [], isDryRun });
  for (const { path, bytes, usedAtMs } of removed) {
    const days = Math.floor((Date.now() - usedAtMs) / DAY_MS);
    out(`${path}  ${formatBytes(bytes)}  last used ${days} ${days === 1 ? 'day' : 'days'} ago\n`);
  }
  const sum = (builds: typeof removed) =>
    formatBytes(builds.reduce((bytes, build) => bytes + build.bytes, 0));
  const verb = isDryRun ? 'Would remove' : 'Removed';
  out(
    `${verb} ${removed.length} built models (${sum(removed)}) from ${cacheDirOf(config)}; ${kept.length} (${sum(kept)}) stay.\n`,
  );
}
