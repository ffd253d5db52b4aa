// Finish reasons and stop reasons of a choice. The api maps these to the wire.

/** Finish reasons of the token side: `stop` is an end-of-sequence or stop token, `repetition` a detected loop. */
export type TokenFinishReason = 'stop' | 'length' | 'abort' | 'repetition';

/**
 * `tool-calls`: the choice ended by itself and has at least one call. `stop` also covers stop strings, which only the text side can see. `error` is a choice whose
 * constraint failed: no text that it allows was found, or what can be checked at the end only does not hold.
 */
export type FinishReason = TokenFinishReason | 'tool-calls' | 'error';

/**
 * Which stop matched: a stop string, a stop token id, `repetition_detected` for a loop, `constraint_failed` for an
 * `error`, or null for the main end-of-sequence token and other ends.
 */
export type StopReason = string | number | null;
