// Reads the bodies of requests that store feedback. Large ones are read in a thread with a heap of its own, because objects with tens of
// thousands of keys keep the garbage collector of their thread busy.

import type { FeedbackBodies, FeedbackBodyKind, FeedbackDrafts } from '@ortler/api';
import { readFeedbackDrafts } from '@ortler/api/feedback-drafts';
import { entryModule, StreamWorker } from '@ortler/worker';
import { peekBytes } from '../peek-bytes.ts';
import { rethrow } from '../thread-faults.ts';

/** A body of less is read sooner than handed over. */
const SMALL_BYTES = 64 * 1024;

export class FeedbackBodyReader implements FeedbackBodies {
  readonly #thread = new StreamWorker<FeedbackBodyKind, FeedbackDrafts>(
    entryModule('./body-reader-thread', import.meta.url),
  );

  /** Throws: as `FeedbackBodies.read`; `storage_unavailable` when the thread ends, as it does without memory. */
  async read(
    kind: FeedbackBodyKind,
    body: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<FeedbackDrafts> {
    const { bytes, isWhole } = await peekBytes(body, SMALL_BYTES);
    if (isWhole) return readFeedbackDrafts(kind, bytes, signal);
    return this.#thread.run(kind, bytes, signal).catch(rethrow);
  }

  /** Ends the thread with all that it reads. */
  close(): Promise<void> {
    return this.#thread.close();
  }
}
