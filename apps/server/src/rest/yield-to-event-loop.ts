// Cooperative yielding for long work on the main thread. Waiting tasks resume round-robin, one per turn of the event
// loop, so sockets and streams are served between any two of them. Caller: `read-body.ts`.

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, in which no other waiting task resumes. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeNext);
  });
}

function resumeNext(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(resumeNext);
}
