// Looks at the beginning of a stream of bytes.

export interface PeekedBytes {
  /** All of it, from the beginning. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Whether it ends within the limit. */
  readonly isWhole: boolean;
}

/** Reads up to `limit` bytes ahead, or a part more. Throws: what `source` throws. */
export async function peekBytes(source: AsyncIterable<Uint8Array>, limit: number): Promise<PeekedBytes> {
  const reading = source[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let isWhole = false;
  for (let length = 0; length <= limit && !isWhole; ) {
    const { done, value } = await reading.next();
    if (done) isWhole = true;
    else {
      first.push(value);
      length += value.length;
    }
  }
  return { bytes: join(first, reading), isWhole };
}

async function* join(
  first: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
