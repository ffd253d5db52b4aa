// Compiled grammars by their text, the least recently used one leaving first. One per llguidance instance.

import type { Grammar } from '../constraint.ts';

/** Beside its text, a compiled grammar keeps a lexer and its tables. Measured: 0.1 MB for small ones. */
const FIXED_BYTES = 128 * 1024;
/** Compiled size by text size: a schema becomes about this many times larger. */
const BYTES_PER_CHARACTER = 16;

export class MatcherCache {
  readonly #byKey = new Map<string, { readonly matcher: number; readonly bytes: number }>();
  readonly #maxBytes: number;
  readonly #free: (matcher: number) => void;
  #bytes = 0;

  /** `free` is called with each matcher that leaves. */
  constructor(maxBytes: number, free: (matcher: number) => void) {
    this.#maxBytes = maxBytes;
    this.#free = free;
  }

  get count(): number {
    return this.#byKey.size;
  }

  get(grammar: Grammar): number | undefined {
    const key = keyOf(grammar);
    const entry = this.#byKey.get(key);
    if (entry === undefined) return undefined;
    this.#byKey.delete(key);
    this.#byKey.set(key, entry);
    return entry.matcher;
  }

  /** Mutates: takes the matcher over, and frees others, or itself when it alone is too large. */
  add(grammar: Grammar, matcher: number): void {
    const bytes = FIXED_BYTES + grammar.text.length * BYTES_PER_CHARACTER;
    this.#byKey.set(keyOf(grammar), { matcher, bytes });
    this.#bytes += bytes;
    for (const [key, entry] of this.#byKey) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#byKey.delete(key);
      this.#bytes -= entry.bytes;
      this.#free(entry.matcher);
    }
  }
}

function keyOf({ kind, text }: Grammar): string {
  return `${kind}\n${text}`;
}
