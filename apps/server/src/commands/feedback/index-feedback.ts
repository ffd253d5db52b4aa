// `ortler feedback index`: creates or drops the index of a payload path.

import type { Config } from '../../config/config.ts';
import { type PayloadIndex, payloadIndexName } from '../../stores/feedback/payload-indexes.ts';
import type { Terminal } from '../terminal.ts';
import { withFeedback } from '../with-database.ts';

/** Throws: `UserError` for a path that cannot be indexed. */
export function indexFeedback(
  config: Config,
  { drop, ...index }: PayloadIndex & { readonly drop: boolean },
  terminal: Terminal,
): Promise<void> {
  return withFeedback(config, async ({ indexes }) => {
    await (drop ? indexes.drop(index) : indexes.create(index));
    const done = drop ? 'is gone' : 'is ready';
    terminal.err(`  The index of ${index.path} as ${index.reading} ${done} (${payloadIndexName(index)}).\n`);
  });
}
