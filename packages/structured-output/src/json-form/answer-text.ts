// The bytes of an answer, and after them room for a token. Positions say how many of them count.

const START_BYTES = 1024;

export class AnswerText {
  #bytes: Uint8Array;

  constructor(bytes = new Uint8Array(START_BYTES)) {
    this.#bytes = bytes;
  }

  /** Another array after a `write` that needed more room. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Writes the bytes of a token behind the first `length` ones. */
  write(token: Uint8Array, length: number): void {
    if (length + token.length > this.#bytes.length) {
      const wider = new Uint8Array(2 * (length + token.length));
      wider.set(this.#bytes);
      this.#bytes = wider;
    }
    this.#bytes.set(token, length);
  }

  copy(): AnswerText {
    return new AnswerText(this.#bytes.slice());
  }
}
