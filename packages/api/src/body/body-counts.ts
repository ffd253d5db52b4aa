// Limits on the number of values of a body, REST and tRPC alike.

import { JsonCounter } from '@ortler/json';
import { ApiError } from '../trpc/errors.ts';

/** Twice the token ids of the largest request. */
const MAX_VALUE_COUNT = 524_288;
/** A V8 object with many more keys takes seconds to build. */
const MAX_KEY_COUNT = 65_536;
/** A shorter text holds neither so many properties, of five bytes at least (`"":1,`), nor so many values. Unit: bytes. */
const COUNTED_LENGTH = 5 * MAX_KEY_COUNT;

/** Counts one body while its bytes arrive. */
export class BodyCounts {
  readonly #counter = new JsonCounter({ maxValueCount: MAX_VALUE_COUNT, maxKeyCount: MAX_KEY_COUNT });
  /** What has arrived of a body that is still short; null: it is counted. */
  #uncounted: Uint8Array[] | null = [];
  #length = 0;

  /** Counts the next bytes. Throws: `body_too_large`. */
  add(bytes: Uint8Array): void {
    if (this.#uncounted === null) {
      this.#count(bytes);
      return;
    }
    this.#uncounted.push(bytes);
    this.#length += bytes.length;
    if (this.#length < COUNTED_LENGTH) return;
    for (const part of this.#uncounted) this.#count(part);
    this.#uncounted = null;
  }

  #count(bytes: Uint8Array): void {
    switch (this.#counter.add(bytes)) {
      case 'maxValueCount':
        throw new ApiError('body_too_large', `The body has more than ${MAX_VALUE_COUNT} values.`);
      case 'maxKeyCount':
        throw new ApiError(
          'body_too_large',
          `An object of the body has more than ${MAX_KEY_COUNT} properties.`,
        );
    }
  }
}
