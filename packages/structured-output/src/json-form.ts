// The form of generated JSON beyond its grammar, which llguidance cannot express: layout, length of numbers, and the
// repetition guard. Plain data that crosses threads. The front end writes it, `json-form/json-form-matcher.ts` follows it.

import type { AnswerShape } from './answer-shape.ts';

export interface JsonForm {
  /**
   * `canonical`: one of the layouts of `json-form/gap-rules.ts`, as the answer begins. `bounded`: any white space of little width.
   * `free`: the grammar alone decides.
   */
  readonly layout: 'canonical' | 'bounded' | 'free';
  /** Null: numbers of any length. */
  readonly numbers: NumberLimits | null;
  readonly guardsRepetition: boolean;
  /** Where in the answer JSON is. Default: the whole answer. */
  readonly shape?: AnswerShape;
}

/** Limits of the length of a number. */
export interface NumberLimits {
  /** Maximum number of digits. */
  readonly integerDigits: number;
  /** That of a number with a fraction or an exponent, or where one is allowed. */
  readonly significantDigits: number;
  /** Greatest exponent, positive or negative. */
  readonly exponent: number;
}

/**
 * Every integer of 64 bits, and doubles in their shortest spelling. With 21 digits before the point (zeros at the end are not
 * significant) such an exponent is still a double, and not an infinity.
 */
export const NUMBER_LIMITS: NumberLimits = { integerDigits: 19, significantDigits: 17, exponent: 280 };
