// What a vector is: one numbered behaviour of the wire, the request fields it proves, and its check.

import type { ChatClient } from '../../support/chat-client.ts';

/** What vectors need to know of the demo model; nothing of it depends on its weights. */
export interface ModelFacts {
  /** An ordinary token and its text, the same at every place. */
  readonly x: number;
  readonly xText: string;
  readonly y: number;
  /** The main end-of-sequence token. */
  readonly eos: number;
  readonly vocabSize: number;
  readonly contextLength: number;
}

export interface VectorContext extends ModelFacts {
  readonly client: ChatClient;
}

export interface Vector {
  /** Number in the list of behaviours; fields beyond the list have a name of their own. */
  readonly number: number | string;
  readonly rule: string;
  /** Fields of the request whose effect or refusal this shows. */
  readonly fields: readonly string[];
  readonly run: (context: VectorContext) => Promise<void>;
}

export function vector(
  number: number | string,
  rule: string,
  fields: readonly string[],
  run: Vector['run'],
): Vector {
  return { number, rule, fields, run };
}
