// The payload schema of sampled payloads. Yields to the event loop after each payload, which may have a megabyte.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { PayloadPathCollector } from '@ortler/feedback-query';
import type { FeedbackPayloadSchemaResult } from '@ortler/schemas';

/** Collects the paths of all payloads. Throws: the reason of the signal. */
export async function discoverPaths(
  samples: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
): Promise<FeedbackPayloadSchemaResult> {
  const collector = new PayloadPathCollector();
  for await (const payloads of samples)
    for (const payload of payloads) {
      signal.throwIfAborted();
      collector.add(payload);
      await nextTurn();
    }
  return { paths: [...collector.paths()] };
}
