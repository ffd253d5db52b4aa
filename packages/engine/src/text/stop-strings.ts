// Matches stop strings in streamed text: finds the first one, and holds back text that may be the beginning of one. Emitted
// text is never cut inside a surrogate pair.

export interface StopStringOptions {
  /** In order of precedence where two matches end at the same place. */
  readonly strings: readonly string[];
  /** The match itself belongs to the output. Nothing has to be held back then. */
  readonly includeInOutput: boolean;
}

/** `emit` is text that no later match can cut. */
export type StopStringResult =
  | { readonly kind: 'open'; readonly emit: string }
  | { readonly kind: 'matched'; readonly emit: string; readonly stop: string };

/** Matches the stop strings of one choice. */
export class StopStringMatcher {
  readonly #strings: readonly string[];
  readonly #includeInOutput: boolean;
  /** Unit: code points, the unit of the reference. */
  readonly #holdBackLength: number;
  readonly #longestUnits: number;
  /** Text not given out yet. */
  #held = '';
  /** The end of the text given out, as far as a match may still reach back into it. */
  #seen = '';

  constructor(options: StopStringOptions) {
    this.#strings = options.strings;
    this.#includeInOutput = options.includeInOutput;
    let longest = 0;
    let longestUnits = 0;
    for (const stop of options.strings) {
      longest = Math.max(longest, [...stop].length);
      longestUnits = Math.max(longestUnits, stop.length);
    }
    this.#holdBackLength = options.includeInOutput ? 0 : Math.max(0, longest - 1);
    this.#longestUnits = longestUnits;
  }

  /**
   * Takes the next piece. A match must end inside a piece with `mayEnd`; it may begin in earlier ones.
   * After a match nothing more may be pushed.
   */
  push(piece: string, mayEnd: boolean): StopStringResult {
    if (this.#strings.length === 0) return { kind: 'open', emit: piece };
    const before = this.#seen + this.#held;
    const text = before + piece;
    const match = mayEnd ? this.#firstMatch(text, before.length) : null;
    if (match !== null) {
      const end = this.#includeInOutput ? match.end : match.end - match.stop.length;
      // With nothing held back, text before the match may be out already; a match then begins in `seen`.
      const emit = text.slice(this.#seen.length, Math.max(this.#seen.length, end));
      this.#held = '';
      return { kind: 'matched', emit, stop: match.stop };
    }
    const unsettled = this.#held + piece;
    const cut = holdBackCut(unsettled, this.#holdBackLength);
    const emit = unsettled.slice(0, cut);
    this.#held = unsettled.slice(cut);
    this.#seen = tail(this.#seen + emit, this.#longestUnits - 1 - this.#held.length);
    return { kind: 'open', emit };
  }

  /** The held text, when the choice ended for another reason. */
  flush(): string {
    const text = this.#held;
    this.#held = '';
    return text;
  }

  /** The match that ends first; `newFrom` is where the new piece begins. */
  #firstMatch(text: string, newFrom: number): { stop: string; end: number } | null {
    let best: { stop: string; end: number } | null = null;
    for (const stop of this.#strings) {
      const index = text.indexOf(stop, Math.max(0, newFrom - stop.length + 1));
      if (index === -1) continue;
      const end = index + stop.length;
      if (best === null || end < best.end) best = { stop, end };
    }
    return best;
  }
}

/** Index that leaves the last `count` code points after it. */
function holdBackCut(text: string, count: number): number {
  let cut = text.length;
  for (let i = 0; i < count && cut > 0; i++) {
    cut--;
    const isLow = (text.charCodeAt(cut) & 0xfc00) === 0xdc00;
    if (isLow && cut > 0 && (text.charCodeAt(cut - 1) & 0xfc00) === 0xd800) cut--;
  }
  return cut;
}

function tail(text: string, length: number): string {
  return length <= 0 ? '' : text.slice(-length);
}
