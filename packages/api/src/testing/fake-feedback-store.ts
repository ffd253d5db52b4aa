// A feedback store that holds nothing, for tests of other parts: what it is asked to keep is only
// acknowledged.

import type { FeedbackStore } from '../ports/feedback-services.ts';

/** Makes the store. */
export function createFakeFeedbackStore(): FeedbackStore {
  const toInserted = (record: { readonly created_at_ms: number; readonly wb_user_id: string }) => ({
    isNew: true,
    createdAtMs: record.created_at_ms,
    userId: record.wb_user_id,
  });
  return {
    queryConcurrency: 2,
    query: async () => ({
      rows: new TextEncoder().encode('[]'),
      rowCount: 0,
      isCut: false,
      lastCursor: null,
    }),
    async *samplePayloads() {},
    insert: async records => records.map(toInserted),
    isStored: async () => false,
    replace: async (_removedId, record) => toInserted(record),
    delete: async () => undefined,
  };
}
