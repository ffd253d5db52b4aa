// The feedback store without a server, for benchmarks and for programs that embed it.

export { openDatabase } from './db/open-database.ts';
export { type OpenFeedback, openFeedback } from './stores/feedback/open-feedback.ts';
