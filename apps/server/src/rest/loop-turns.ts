// Turns of the event loop for long work on the main thread. However many ask, one goes on in each turn: so between two
// pieces of their work, sockets and the streams of everybody else are served.

const waiting: (() => void)[] = [];

/** Resolves in a later turn of the event loop, in which no one else's wait for a turn resolves. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(giveTurn);
}
