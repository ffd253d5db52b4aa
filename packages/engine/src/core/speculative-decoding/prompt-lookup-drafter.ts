// Drafts from the sequence's own text: where its last tokens stood before, it may go on in the same way. Guesses in
// every step, because looking is cheap and shows how good guesses are; drafts only where the policy says that it pays.
// Where a constraint leaves one way to go on, that way is the guess, and every other guess is cut to what it allows.

import type { Sequence } from '../sequence.ts';
import { type DraftOffer, type DraftPolicy, LONGEST_DRAFT, PROCESSOR_DRAFTS } from './draft-policy.ts';
import type { Drafter, DraftStep } from './drafter.ts';
import { lookUpContinuation } from './look-up-continuation.ts';

export class PromptLookupDrafter implements Drafter {
  readonly #policy: DraftPolicy;
  readonly #guess = new Int32Array(LONGEST_DRAFT);
  /** Refilled by every call. */
  readonly #offers: DraftOffer[] = [];

  constructor(policy: DraftPolicy = PROCESSOR_DRAFTS) {
    this.#policy = policy;
  }

  draft(decodes: readonly Sequence[], { isAlone, logitsRoom }: DraftStep): readonly number[] {
    const policy = this.#policy;
    const offers = this.#offers;
    offers.length = 0;
    let roomLeft = logitsRoom;
    // The look ahead costs a mask before the model call: only where a draft that is surely right would be made.
    const looksAhead = isAlone && policy.chooseLength(1, decodes.length) > 0;
    for (const sequence of decodes) {
      this.#guessNext(sequence, { looksAhead });
      const { guessLength, guessRate: rate } = sequence;
      const length = Math.min(policy.chooseLength(rate, decodes.length), guessLength, roomLeft);
      roomLeft -= length;
      offers.push({ rate, length });
    }
    return isAlone ? policy.settle(offers) : offers.map(() => 0);
  }

  #guessNext(sequence: Sequence, { looksAhead }: { readonly looksAhead: boolean }): void {
    const { group, outputTokenIds, tokenIds, tokenCount, constraint } = sequence;
    const { maxTokens, eosTokenIds, stopTokenIds } = group.submitted;
    const guess = this.#guess;
    // The last token before the limit is drawn after the draft.
    const left = Math.min(guess.length, maxTokens - outputTokenIds.length - 1);
    const forced = looksAhead && constraint !== null ? constraint.guessForced(guess, left) : 0;
    if (forced > 0) {
      sequence.setGuess(guess, forced, 'constraint');
      return;
    }
    const isFound = left > 0 && lookUpContinuation(tokenIds, tokenCount, guess);
    let length = 0;
    while (
      isFound &&
      length < left &&
      !eosTokenIds.includes(guess[length]!) &&
      !stopTokenIds.includes(guess[length]!)
    )
      length++;
    if (constraint !== null && length > 0) length = constraint.countFitting(guess, length);
    sequence.setGuess(guess, length);
  }
}
