// The stream that a transport reads: events in, chunks out, and a clean-up at the end however it comes. A native generator
// that nobody ever read ends without running its clean-up; this one cleans up in that case too.

/** The events to be written; both methods as in async generators. */
export type EventSource<Event> = Pick<AsyncGenerator<Event, void, undefined>, 'next' | 'return'>;

export interface ClosingStreamOptions<Event, Item> {
  /** Items of an event, possibly none. */
  readonly write: (event: Event) => readonly Item[];
  /** Called once, when the events end, fail or are left. */
  readonly onClose?: () => void | Promise<void>;
}

/** The items of all events. Throws: errors of the events. */
export function closingStream<Event, Item>(
  events: EventSource<Event>,
  { write, onClose }: ClosingStreamOptions<Event, Item>,
): AsyncGenerator<Item, void, undefined> {
  const written: Item[] = [];
  let isClosed = false;
  let lastCall: Promise<unknown> | undefined;

  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    written.length = 0;
    await onClose?.();
  };
  const read = async (): Promise<IteratorResult<Item, void>> => {
    while (written.length === 0) {
      if (isClosed) return DONE;
      const step = await events.next();
      if (step.done === true) await close();
      else for (const item of write(step.value)) written.push(item);
    }
    return { done: false, value: written.shift()! };
  };
  const leave = async (): Promise<IteratorResult<Item, void>> => {
    await events.return();
    await close();
    return DONE;
  };
  /** Calls wait for each other, as those of a native generator do. A failed one closes the stream. */
  const inTurn = <Result>(call: () => Promise<Result>): Promise<Result> => {
    const result = callAfter(lastCall, call);
    lastCall = result;
    return result;
  };
  const callAfter = async <Result>(
    before: Promise<unknown> | undefined,
    call: () => Promise<Result>,
  ): Promise<Result> => {
    try {
      await before;
    } catch {
      // Its caller has the error.
    }
    try {
      return await call();
    } catch (error) {
      await events.return().catch(() => undefined);
      await close();
      throw error;
    }
  };

  return {
    next: () => inTurn(read),
    return: () => inTurn(leave),
    throw: (error: unknown) =>
      inTurn(async () => {
        await leave();
        throw error;
      }),
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}

const DONE: IteratorReturnResult<void> = { done: true, value: undefined };
