// The error class of this package and its closed list of codes. Failures of the model are `EngineError`s.

import type { FinishReason } from '@ortler/engine';

/**
 * Why an answer is not the object that was asked for.
 *
 * - `truncated`: the answer ended before the object was whole, mostly at `maxTokens`.
 * - `invalid`: the object breaks a rule of the schema that JSON Schema cannot state, such as a refinement.
 */
export type ObjectErrorCode = 'truncated' | 'invalid';

export interface ObjectErrorDetails {
  /** The answer as it was generated. */
  readonly text: string;
  readonly finishReason: FinishReason;
}

/** The error that `generateObject` rejects with when the model answered, but not with the object. */
export class ObjectError extends Error {
  override readonly name = 'ObjectError';
  readonly code: ObjectErrorCode;
  readonly text: string;
  readonly finishReason: FinishReason;

  constructor(code: ObjectErrorCode, message: string, { text, finishReason }: ObjectErrorDetails) {
    super(message);
    this.code = code;
    this.text = text;
    this.finishReason = finishReason;
  }
}
