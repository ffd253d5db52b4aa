// The feedback store without a server, for benchmarks and for programs that embed it.

export { openDatabase } from './db/open-database.ts';
export { createFeedbackStore } from './stores/feedback/feedback-store.ts';
export { createPayloadIndex } from './stores/feedback/payload-indexes.ts';
