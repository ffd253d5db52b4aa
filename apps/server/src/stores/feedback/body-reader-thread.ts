// Entry module of the thread that reads large bodies of feedback.

import type { FeedbackBodyKind } from '@ortler/api';
import { readFeedbackDrafts } from '@ortler/api/feedback-drafts';
import { lowerThreadPriority, serveStreams } from '@ortler/worker';

lowerThreadPriority();
serveStreams<FeedbackBodyKind>(async (kind, body, signal) => ({
  result: await readFeedbackDrafts(kind, body, signal),
}));
