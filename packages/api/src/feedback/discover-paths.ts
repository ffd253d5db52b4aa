// The payload schema of sampled payloads, as JSON. Yields to the event loop: a payload may have a megabyte, and the answer many paths.

import { MAX_DISCOVERED_PATHS, PayloadPathCollector } from '@ortler/feedback-query';
import { Turns } from '@ortler/worker';
import { ApiError } from '../trpc/errors.ts';

/**
 * Collects the paths of all payloads. Returns the UTF-8 of a `feedbackPayloadSchemaResult`.
 * Throws: the reason of the signal; `answer_too_large` above `MAX_DISCOVERED_PATHS`.
 */
export async function discoverPaths(
  samples: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const collector = new PayloadPathCollector();
  const turns = new Turns();
  for await (const payloads of samples)
    for (const payload of payloads)
      for (const _ of collector.addInSlices(payload)) {
        signal.throwIfAborted();
        if (collector.pathCount > MAX_DISCOVERED_PATHS)
          throw new ApiError(
            'answer_too_large',
            `The payloads have more than ${MAX_DISCOVERED_PATHS} paths; ask for a shorter time, one feedback_type or one trigger_ref.`,
            { param: 'start' },
          );
        await turns.pause();
      }
  await turns.pause();
  const parts: string[] = [];
  for (const path of collector.paths()) {
    parts.push(JSON.stringify(path));
    await turns.pause();
  }
  return new TextEncoder().encode(`{"paths":[${parts.join()}]}`);
}
