// Public surface of @ortler/worker.

export { childEnvironment } from './child-environment.ts';
export { type EntryModule, entryModule } from './entry-module.ts';
export { WorkerError, type WorkerErrorCode, type WorkerErrorDetails } from './errors.ts';
export { KillableWorker, type KillableWorkerOptions } from './killable-worker.ts';
export { lowerThreadPriority } from './lower-thread-priority.ts';
export { MessageTurns } from './message-turns.ts';
export { ownsBuffer } from './owns-buffer.ts';
export { type StreamResult, serveStreams } from './serve-streams.ts';
export { type RefusalClass, serveTasks } from './serve-tasks.ts';
export { ShareQueue } from './share-queue.ts';
export { StreamWorker } from './stream-worker.ts';
export { nextTurn, Turns } from './turns.ts';
export { WeightedSemaphore } from './weighted-semaphore.ts';
