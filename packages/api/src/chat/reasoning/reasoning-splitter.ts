// What every way of telling thinking from answer gives, one object for each choice.

/** Text that is settled now. Marks belong to neither part. */
export interface SplitText {
  readonly reasoning: string;
  readonly content: string;
}

export interface ReasoningSplitter {
  /** What the next piece of text settles. */
  push(text: string): SplitText;
  /** What was held back, when nothing follows. */
  finish(): SplitText;
  /** Whether the last text that was settled is thought. */
  readonly isThinking: boolean;
}
