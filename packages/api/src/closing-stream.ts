// Streams that hold something until they end. A generator that nobody ever read ends without running its clean-up; these
// clean up in that case too.

export interface ClosingStreamOptions<T> {
  /** What was read from the items already and comes first. */
  readonly first?: IteratorResult<T, void>;
  /** Called once, when the items end, fail or are left. */
  readonly onClose: () => void;
}

/** The items, and `onClose` at their end however it comes. `items` must have been read from, or need no clean-up itself. */
export function closingStream<T>(
  items: AsyncGenerator<T, void, undefined>,
  { first, onClose }: ClosingStreamOptions<T>,
): AsyncGenerator<T, void, undefined> {
  let waiting = first;
  let isClosed = false;
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    onClose();
  };
  const closeAtEnd = async (step: Promise<IteratorResult<T, void>>): Promise<IteratorResult<T, void>> => {
    try {
      const result = await step;
      if (result.done === true) close();
      return result;
    } catch (error) {
      close();
      throw error;
    }
  };
  return {
    next() {
      if (waiting === undefined) return closeAtEnd(items.next());
      const result = waiting;
      waiting = undefined;
      return closeAtEnd(Promise.resolve(result));
    },
    return: value => closeAtEnd(items.return(value)),
    throw: error => closeAtEnd(items.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}
