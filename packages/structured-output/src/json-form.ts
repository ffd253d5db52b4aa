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

/** Maximum number of digits of a number. */
export interface NumberLimits {
  readonly integerDigits: number;
  /** Limits of a number with a fraction or an exponent, or where one is allowed. */
  readonly significantDigits: number;
  readonly exponentDigits: number;
}

/** Every integer of 64 bits, and every double in its shortest spelling. */
export const NUMBER_LIMITS: NumberLimits = { integerDigits: 19, significantDigits: 17, exponentDigits: 3 };
