// One device of a process: sessions share its command queue and its buffers, which are not made for several
// threads. So calls on a device run one after the other, whichever session they are of.

import { assertInvariant } from './errors.ts';

export class DeviceQueue {
  #callCount = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** Makes the call when all earlier ones have ended, whether they failed or not. */
  run<T>(call: () => T | Promise<T>): Promise<T> {
    this.#callCount++;
    const result = this.#last.then(call).finally(() => this.#callCount--);
    this.#last = result.catch(() => undefined);
    return result;
  }

  assertIdle(doing: string): void {
    assertInvariant(this.#callCount === 0, `${doing} waits until nothing runs on the device`);
  }
}
