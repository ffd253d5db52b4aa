// The splitter of reasoning and answer, one object for each choice. Implementations: `split-reasoning.ts`, `split-channels.ts`.

/** Text whose part is known now. Marks belong to neither part. */
export interface SplitText {
  readonly reasoning: string;
  readonly answer: string;
}

export interface ReasoningSplitter {
  /** Takes the next piece of text and gives all text whose part is known. */
  push(text: string): SplitText;
  /** The text that was held back, at the end of the choice. */
  finish(): SplitText;
  /** Whether the last text that was given is reasoning. */
  readonly isReasoning: boolean;
}
