// The queue in front of feedback queries and payload samples: callers decide what these cost.

import { FairQueue } from '../limits/fair-queue.ts';
import type { FeedbackStore } from '../ports/feedback-services.ts';

/** Half of the connections, so that another team's query finds one. */
const SHARE_OF_CONNECTIONS = 0.5;
const WAITING_PER_SHARE = 64;
/** Answers that clients have not read: at most `MAX_ANSWER_BYTES` each. */
const UNREAD_PER_SHARE = 16;
const UNREAD = 64;

/** Makes the queue of a store. */
export function createQueryQueue({ queryConcurrency }: Pick<FeedbackStore, 'queryConcurrency'>): FairQueue {
  return new FairQueue('feedback queries of this team', {
    running: queryConcurrency,
    runningPerShare: Math.max(1, Math.floor(queryConcurrency * SHARE_OF_CONNECTIONS)),
    waitingPerShare: WAITING_PER_SHARE,
    unreadPerShare: UNREAD_PER_SHARE,
    unread: UNREAD,
  });
}
