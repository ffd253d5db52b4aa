// Results that are JSON text already. A transport that can write the text as it is says so in its context (`embedJson`), so
// that a large answer is neither parsed nor printed on the event loop.

import { randomUUID } from 'node:crypto';
import { z } from 'zod';

/** A result as the UTF-8 of its JSON, in parts. Where a transport prints it with others, it leaves a placeholder for the text. */
export class JsonText {
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  readonly placeholder = randomUUID();

  constructor(parts: readonly Uint8Array<ArrayBuffer>[]) {
    this.parts = parts;
  }

  toJSON(): string {
    return this.placeholder;
  }
}

/** The part of a request's context that says how its transport writes JSON text. */
export interface JsonTextContext {
  /** Returns what to return instead of a result that is JSON text already. Absent: the text is parsed. */
  readonly embedJson?: ((parts: readonly Uint8Array<ArrayBuffer>[]) => JsonText) | undefined;
}

/** How the document generator sees a `JsonText`; openapi.ts leaves it out. */
export const JSON_TEXT = { type: 'string', contentMediaType: 'application/json' } as const;

const jsonText = z.custom<JsonText>(value => value instanceof JsonText).meta({ override: JSON_TEXT });

/**
 * The output schema of a procedure that returns `toResult`. Typed callers see the result alone. The text comes first, because a
 * schema that fails has to tell every fault before the next one is tried.
 */
export function orJsonText<Schema extends z.ZodType>(schema: Schema): z.ZodType<z.output<Schema>> {
  return z.union([jsonText, schema]) as unknown as z.ZodType<z.output<Schema>>;
}

/** What a procedure returns for the text of a result, which may come in parts. */
export function toResult<Result>(
  { embedJson }: JsonTextContext,
  ...parts: readonly Uint8Array<ArrayBuffer>[]
): Result {
  return (embedJson?.(parts) ?? JSON.parse(Buffer.concat(parts).toString())) as Result;
}

/** What a procedure returns for a result that its schema must not narrow: fields and values that it does not know stay. */
export function toJsonResult<Result>(context: JsonTextContext, result: object): Result {
  return toResult(context, new TextEncoder().encode(JSON.stringify(result)));
}
