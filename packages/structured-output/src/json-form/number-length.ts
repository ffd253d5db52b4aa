// The length of a number while it is written, byte by byte, against limits on its digits. Caller: `json-reader.ts`.

import type { NumberLimits } from '../json-form.ts';

/**
 * Zeros between the point and the first other digit that are not significant; further ones count as significant. As many as
 * JavaScript writes before it takes an exponent.
 */
const LEADING_ZEROS = 6;

/** Zeros at the end of a whole number are not significant, up to this many digits: JavaScript then takes an exponent. */
const WHOLE_DIGITS = 21;

export class NumberLength {
  #part: 'integer' | 'fraction' | 'exponent' = 'integer';
  /** Digits that count in this part and before it; in the exponent its own, as the decimal number that they are behind a 1. */
  #digits = 0;
  #leadingZeros = 0;

  /** Mutates: this, to the start of a number. */
  start(): void {
    this.#part = 'integer';
    this.#digits = 0;
    this.#leadingZeros = 0;
  }

  get isInteger(): boolean {
    return this.#part === 'integer';
  }

  get digits(): number {
    return this.#digits;
  }

  /** The state as one number, for `restore`. */
  save(): number {
    const part = this.#part === 'integer' ? 0 : this.#part === 'fraction' ? 1 : 2;
    return (this.#digits * (LEADING_ZEROS + 1) + this.#leadingZeros) * 3 + part;
  }

  restore(saved: number): void {
    this.#part = saved % 3 === 0 ? 'integer' : saved % 3 === 1 ? 'fraction' : 'exponent';
    const rest = Math.floor(saved / 3);
    this.#leadingZeros = rest % (LEADING_ZEROS + 1);
    this.#digits = Math.floor(rest / (LEADING_ZEROS + 1));
  }

  /**
   * Whether one more byte of a number is within the limits. `isReal`: the grammar allows a fraction here.
   * Mutates: appends the byte in either case.
   */
  push(byte: number, limits: NumberLimits, isReal: boolean): boolean {
    if (byte === POINT) {
      const hasRoom = this.#digits < limits.significantDigits;
      this.#part = 'fraction';
      return hasRoom;
    }
    if (byte === SMALL_E || byte === LARGE_E) {
      this.#part = 'exponent';
      this.#digits = 1;
      return true;
    }
    if (byte < ZERO || byte > NINE) return true;
    if (this.#part === 'exponent') return this.#pushExponent(byte - ZERO, limits.exponent);
    if (byte === ZERO && this.#digits === 0) {
      if (this.#part === 'integer') return true;
      if (this.#leadingZeros < LEADING_ZEROS) {
        this.#leadingZeros++;
        return true;
      }
    }
    this.#digits++;
    const isWholeZero = isReal && this.#part === 'integer' && byte === ZERO && this.#digits <= WHOLE_DIGITS;
    const limit = this.#part === 'fraction' || isReal ? limits.significantDigits : limits.integerDigits;
    return isWholeZero || this.#digits <= limit;
  }

  /** Exponents have as many digits as the greatest one at most, zeros at their beginning included. */
  #pushExponent(digit: number, greatest: number): boolean {
    this.#digits = 10 * this.#digits + digit;
    return this.#digits <= 10 ** String(greatest).length + greatest;
  }
}

const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LARGE_E = 0x45;
const SMALL_E = 0x65;
