// Limits on the number of values of a body, REST and tRPC alike.

import { JsonCounter } from '@ortler/json';
import { ApiError } from '../trpc/errors.ts';

/** Twice the token ids of the largest request. */
const MAX_VALUE_COUNT = 524_288;
/** A V8 object with many more keys takes seconds to build. */
const MAX_KEY_COUNT = 65_536;

/** Counts one body while its bytes arrive. */
export class BodyCounts {
  readonly #counter = new JsonCounter({ maxValueCount: MAX_VALUE_COUNT, maxKeyCount: MAX_KEY_COUNT });

  /** Counts the next bytes. Throws: `body_too_large`. */
  add(bytes: Uint8Array): void {
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
