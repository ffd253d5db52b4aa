// What the check of a value finds and remembers, and what its keywords ask of whoever checks the parts.

import type { JsonValue } from '@ortler/json';

/** The keyword that a value breaks, and the place in the value (JSON pointer). */
export interface Violation {
  readonly keyword: string;
  readonly place: string;
}

/** Names and items that some keyword has looked at, for the `unevaluated...` keywords. Mutates on the way. */
export interface Seen {
  readonly names: Set<string>;
  readonly items: Set<number>;
}

export interface PartChecker {
  /** Mutates: adds to `seen` what a satisfied schema has looked at. */
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
