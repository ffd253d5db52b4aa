// Types of the JSON Schema evaluator: a violation, the properties and items that were evaluated, and the recursion into parts.

import type { JsonValue } from '@ortler/json';

/** The keyword that a value breaks, and the place in the value (JSON pointer). */
export interface Violation {
  readonly keyword: string;
  readonly place: string;
}

/** Properties and items evaluated so far, for the `unevaluated...` keywords. Filled during the evaluation. */
export interface Seen {
  readonly names: Set<string>;
  readonly items: Set<number>;
}

export interface PartChecker {
  /** Mutates: adds to `seen` what a satisfied schema has evaluated. */
  find(schema: JsonValue, value: JsonValue, base: string, place: string, seen: Seen): Violation | null;
  satisfies(schema: JsonValue, value: JsonValue, base: string): boolean;
  /** Whether the pattern is found in the text. */
  matches(pattern: string, text: string): boolean;
}

export function noneSeen(): Seen {
  return { names: new Set(), items: new Set() };
}

export function addSeen(to: Seen, from: Seen): void {
  for (const name of from.names) to.names.add(name);
  for (const item of from.items) to.items.add(item);
}
