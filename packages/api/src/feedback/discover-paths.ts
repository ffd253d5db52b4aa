// The payload schema of sampled payloads. Yields to the event loop between payloads, which may have a megabyte each.

import { PayloadPathCollector } from '@ortler/feedback-query';
import type { FeedbackPayloadSchemaResult } from '@ortler/schemas';
import { Turns } from '../turns.ts';

/** Collects the paths of all payloads. Throws: the reason of the signal. */
export async function discoverPaths(
  samples: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
): Promise<FeedbackPayloadSchemaResult> {
  const collector = new PayloadPathCollector();
  const turns = new Turns();
  for await (const payloads of samples)
    for (const payload of payloads) {
      signal.throwIfAborted();
      collector.add(payload);
      await turns.pause();
    }
  return { paths: [...collector.paths()] };
}
