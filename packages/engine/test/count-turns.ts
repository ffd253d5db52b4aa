// How often others get their turn while something is worked on in this thread. Callers: tests of long work.

/** Turns of the event loop from the start of `work` until its end, and what it gave. */
export async function countTurns<Value>(
  work: () => Promise<Value>,
): Promise<{ value: Value; turnCount: number }> {
  let turnCount = 0;
  let isOver = false;
  const takeTurn = () => {
    turnCount++;
    if (!isOver) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  const value = await work();
  isOver = true;
  return { value, turnCount };
}
