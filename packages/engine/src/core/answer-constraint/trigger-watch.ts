// Looks for triggers, the texts from which a constraint applies, in the bytes of the tokens: before them
// everything is free.

import type { TokenVocabulary } from '@ortler/structured-output';
import type { SubmittedTriggers } from '../../protocol/messages.ts';

/**
 * `free`: no trigger begins at the end of the text. `near`: one may have begun, so that the next token may hold its end and
 * what follows. `hit`: there is one. `over`: none can come any more.
 */
export type TriggerState = 'free' | 'near' | 'hit' | 'over';

export class TriggerWatch {
  readonly #vocabulary: TokenVocabulary;
  readonly #triggers: readonly Uint8Array[];
  readonly #position: SubmittedTriggers['position'];
  readonly #keptLength: number;
  /** The last bytes of the text, or all of them where a trigger counts at the start only. */
  readonly #tail: number[] = [];

  constructor(vocabulary: TokenVocabulary, { texts, position }: SubmittedTriggers) {
    this.#vocabulary = vocabulary;
    this.#triggers = texts;
    this.#position = position;
    this.#keptLength = Math.max(...texts.map(text => text.length)) - 1;
  }

  /** The state of an empty text. */
  get first(): TriggerState {
    return this.#position === 'start' ? 'near' : 'free';
  }

  fork(): TriggerWatch {
    const copy = new TriggerWatch(this.#vocabulary, { texts: this.#triggers, position: this.#position });
    for (const byte of this.#tail) copy.#tail.push(byte);
    return copy;
  }

  /** The state of the text with this token. Mutates: appends the token. */
  push(tokenId: number): TriggerState {
    const { bytes, offsets } = this.#vocabulary;
    const tail = this.#tail;
    for (let i = offsets[tokenId] ?? 0; i < (offsets[tokenId + 1] ?? 0); i++) tail.push(bytes[i]!);
    if (this.#position === 'start') {
      if (this.#triggers.some(trigger => beginsAt(tail, trigger, 0))) return 'hit';
      return this.#triggers.some(trigger => isBeginning(tail, trigger, 0)) ? 'near' : 'over';
    }
    for (const trigger of this.#triggers)
      for (let at = 0; at + trigger.length <= tail.length; at++)
        if (beginsAt(tail, trigger, at)) return 'hit';
    tail.splice(0, tail.length - this.#keptLength);
    for (const trigger of this.#triggers)
      for (let at = 0; at < tail.length; at++) if (isBeginning(tail, trigger, at)) return 'near';
    return 'free';
  }
}

/** Tokens that hold a trigger and text after it: what follows the trigger would be free. */
export function tokensAcrossTriggers(
  { bytes, offsets }: TokenVocabulary,
  triggers: readonly Uint8Array[],
): readonly number[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const found = new Set<number>();
  for (const trigger of triggers) {
    for (let at = all.indexOf(trigger); at !== -1; at = all.indexOf(trigger, at + 1)) {
      const id = tokenAt(offsets, at);
      if (at + trigger.length < offsets[id + 1]!) found.add(id);
    }
  }
  return [...found];
}

/** The token that the byte at this place belongs to. */
function tokenAt(offsets: Uint32Array, at: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (offsets[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

function beginsAt(text: readonly number[], mark: Uint8Array, at: number): boolean {
  if (at + mark.length > text.length) return false;
  for (let i = 0; i < mark.length; i++) if (text[at + i] !== mark[i]) return false;
  return true;
}

/** Whether the text from this place on is the beginning of the mark, but not all of it. */
function isBeginning(text: readonly number[], mark: Uint8Array, at: number): boolean {
  if (text.length - at >= mark.length) return false;
  for (let i = at; i < text.length; i++) if (text[i] !== mark[i - at]) return false;
  return true;
}
