// Messages in the form that chat templates read, already normalised. The keys are in snake case because templates read them
// by their published names.

export interface ChatMessage {
  readonly role: string;
  readonly content: string | readonly ChatContentPart[];
  readonly name?: string;
  /** Calls of a past answer, which the template writes. */
  readonly tool_calls?: readonly ChatToolCall[];
  /** Only for a message with the role `tool`: the call whose result it is. */
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
}

/** A past call in the form that templates read. */
export interface ChatToolCall {
  readonly id?: string;
  readonly type?: string;
  readonly function: {
    readonly name: string;
    /** The parsed arguments: most templates write them as JSON themselves. `Object(2)` is written as `2.0`. */
    readonly arguments: unknown;
  };
}

export interface ChatContentPart {
  /** `text`; parts of other types are refused. */
  readonly type: string;
  readonly text: string;
}

/** Options for rendering a conversation. */
export interface ChatTemplateOptions {
  /** Ask the template for the opening of the assistant's turn. Default: true. */
  readonly addGenerationPrompt?: boolean;
  /**
   * Leave the last message open, so that the answer continues it. Excludes `addGenerationPrompt`.
   * Throws on rendering: `template_failed` where the text of that message does not survive the template.
   */
  readonly continueFinalMessage?: boolean;
  /** Let the tokenizer put its own special tokens around what the template wrote. Default: false. */
  readonly addSpecialTokens?: boolean;
  /** Function descriptions handed to the template as `tools`. */
  readonly tools?: readonly unknown[];
  /** Extra variables of the template (`documents`, `reasoning_effort`, `enable_thinking`, ...). */
  readonly variables?: Readonly<Record<string, unknown>>;
  /** A template that replaces the model's own, or the name of one of the model's (`tool_use`, `rag`, ...). */
  readonly template?: string;
}
