// Reads several sources of events at once: the prompts of one request are answered side by side.

import type { EventSource } from '../generation/closing-stream.ts';

/** An item and the place of its source. */
export interface MergedItem<T> {
  readonly index: number;
  readonly value: T;
}

type Settled<T> =
  | { readonly index: number; readonly result: IteratorResult<T, void> }
  | { readonly index: number; readonly error: unknown };

/**
 * Items in the order they come; those of one source keep theirs. A source is asked for its next item only after its last
 * one was taken: backpressure of a slow reader reaches all of them.
 * @param stop Ends sources that wait; called once, when the reader leaves or one of them fails.
 * Throws: the error of the first source that fails.
 */
export async function* mergeStreams<T>(
  sources: readonly EventSource<T>[],
  stop: () => void,
): AsyncGenerator<MergedItem<T>, void, undefined> {
  const settled: Settled<T>[] = [];
  let wake: () => void = () => undefined;
  const put = (item: Settled<T>) => {
    settled.push(item);
    wake();
  };
  const pull = (index: number) =>
    void sources[index]!.next().then(
      result => put({ index, result }),
      (error: unknown) => put({ index, error }),
    );
  for (const index of sources.keys()) pull(index);
  let openCount = sources.length;
  try {
    while (openCount > 0) {
      const item = settled.shift();
      if (item === undefined) {
        await new Promise<void>(resolve => {
          wake = resolve;
        });
        continue;
      }
      if ('error' in item) throw item.error;
      if (item.result.done) {
        openCount--;
        continue;
      }
      yield { index: item.index, value: item.result.value };
      pull(item.index);
    }
  } finally {
    // A generator that waits for its next item can only return once that wait is over.
    if (openCount > 0) stop();
    await Promise.allSettled(sources.map(source => source.return()));
  }
}
