// A tool dialect: how the models of a family write tool calls. Plain data, from which the grammar and the
// parser are made.

export interface ToolDialect {
  readonly name: string;
  /**
   * The beginning of a call in the model's answer, which distinguishes it from text: the first characters of
   * `section.open` and `call` together. From here on the grammar decides.
   */
  readonly trigger: string;
  /**
   * Calls begin anywhere in the answer, or only at its start: a trigger that is ordinary text would match in
   * answers.
   */
  readonly position: 'anywhere' | 'start';
  /** Texts around all calls of an answer; empty where there are none. */
  readonly section: { readonly open: string; readonly close: string };
  /** Text between two calls. */
  readonly separator: string;
  /** An answer has one call at most: the template refuses, or does not show, several. */
  readonly isSingle?: boolean;
  /** The parts of a call, in order. */
  readonly call: readonly CallPart[];
  /** Further ways in which templates write past calls, for the parser only. Each begins with a trigger of its own. */
  readonly alsoRead?: readonly { readonly trigger: string; readonly call: readonly CallPart[] }[];
  readonly arguments: ArgumentsForm;
  readonly ids: IdRule;
  /** The format writes messages of several channels; calls are found before reasoning is split off. */
  readonly isChannelled?: boolean;
}

/** `index`: the number of the call in the conversation, in digits. */
export type CallPart = { readonly text: string } | 'name' | 'id' | 'index' | 'arguments';

/** How the arguments are written. */
export type ArgumentsForm =
  | { readonly kind: 'json' }
  /**
   * Each argument between tags: strings as they are, other values as JSON. An argument is `open`, its name, `nameEnd`, its
   * value, `close`. `jsonNameEnd`: stands for `nameEnd` where the value is JSON. `wrap`: marks around strings that have
   * characters of XML; others have none.
   */
  | {
      readonly kind: 'tagged';
      readonly open: string;
      readonly nameEnd: string;
      readonly jsonNameEnd?: string;
      readonly wrap?: { readonly open: string; readonly close: string };
      readonly close: string;
    }
  /** A list of `name=value` in a notation of its own. */
  | {
      readonly kind: 'literals';
      /** After the name of an argument, or a key of an object at any depth where keys are bare. */
      readonly nameEnd: string;
      readonly separator: string;
      readonly notation: LiteralNotation;
    };

/** How values are written where they are not JSON. */
export interface LiteralNotation {
  /** The text on both sides of a string, which then has no escapes; `json`: strings are JSON. */
  readonly quote: 'json' | { readonly mark: string };
  readonly words: { readonly true: string; readonly false: string; readonly null: string };
  /** Keys of objects: names as they are, or strings. */
  readonly keys: 'bare' | 'strings';
  /** Between key and value of an object. */
  readonly keyEnd: string;
  /** Between items. */
  readonly separator: string;
}

/**
 * Ids of calls. `random`: the model writes none, or one of this form: `prefix` and `length` letters and digits. `named`: made
 * of the call's name and the number that the model wrote, `functions.get_weather:0`.
 */
export type IdRule =
  | { readonly kind: 'random'; readonly prefix: string; readonly length: number }
  | { readonly kind: 'named'; readonly prefix: string };

/** A function that may be called. */
export interface Tool {
  readonly name: string;
  /** JSON Schema of the arguments, an object. */
  readonly parameters: ToolSchema;
  /** Refuse what the grammar cannot enforce. */
  readonly isStrict: boolean;
}

/** A JSON Schema that is an object. */
export type ToolSchema = { readonly [keyword: string]: unknown };

/** Whether the model calls tools, and how many. */
export interface CallRule {
  readonly choice: 'auto' | 'required' | { readonly name: string };
  readonly isParallel: boolean;
}

/** Characters of a function's name. */
export const NAME_CHARACTERS = 'A-Za-z0-9_.-';
