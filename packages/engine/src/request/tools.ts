// Tools that a request offers to the model: functions that the caller runs, described by a name and a JSON Schema.

import type { JsonStyle } from '@ortler/structured-output';

/** One function. */
export interface ToolDefinition {
  /** Letters, digits, `_`, `-` and `.`; at most 128. Unique within the request. */
  readonly name: string;
  /** What the function does, for the model. */
  readonly description?: string;
  /** JSON Schema of the arguments, which are an object. Default: no arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /**
   * Refuse a schema that cannot be enforced in full. Without it, keywords that the grammar of the model's calls cannot enforce
   * are left to the caller to check: `uniqueItems` and `not`, and some more where the model does not write JSON, such as the
   * `pattern` of text without quotes. Default: false.
   */
  readonly strict?: boolean;
}

/** `auto`: the model decides. `required`: it calls at least one. `name`: it calls this one. */
export type ToolChoice = 'auto' | 'required' | { readonly name: string };

/** Only with a chat prompt. To show tools to the template without any calls, use `prompt.template.tools`. */
export interface ToolsRequest {
  /** At least one. */
  readonly definitions: readonly ToolDefinition[];
  /** Default: `auto`. */
  readonly choice?: ToolChoice;
  /** An answer may have several calls. Default: true. */
  readonly parallel?: boolean;
  /** The form of arguments. Objects are always closed. Default: the style of the request's constraint, else the engine's. */
  readonly style?: Omit<JsonStyle, 'closeObjects'>;
}
