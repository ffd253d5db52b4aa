// The limit of texts that are read whole, in memory, to choose the files of a model. Callers: download-snapshot.ts, read-listing.ts.

import { HubError } from './errors.ts';
import { formatBytes } from './format-bytes.ts';
import type { RepositoryFile } from './protocol/repository-info.ts';

/** The largest published index of shards has 15 MB. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Before a byte of the text is asked for. Throws: `reply_invalid`. */
export function checkTextSize(repository: string, { path, size }: RepositoryFile): void {
  if (size <= MOST_BYTES) return;
  const sizes = `${formatBytes(size)}; at most ${formatBytes(MOST_BYTES)} are read`;
  throw new HubError('reply_invalid', `${path} of ${repository} should be a small text, and has ${sizes}.`);
}
