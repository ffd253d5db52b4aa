// Why a choice ended, in engine words. The api maps these to the wire.

/** Reasons the token side decides: `stop` is an end-of-sequence or stop token, `repetition` a detected loop. */
export type TokenFinishReason = 'stop' | 'length' | 'abort' | 'repetition';

/** `stop` also covers stop strings, which only the text side can see. */
export type FinishReason = TokenFinishReason;

/**
 * Which stop matched: a stop string, a stop token id, `repetition_detected` for a loop, or null for the main
 * end-of-sequence token and other ends.
 */
export type StopReason = string | number | null;
