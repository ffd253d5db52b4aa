// Speculative decoding by prompt lookup: where the last tokens of a sequence stood before in its own text, the tokens that
// followed there are proposed. Under a constraint that leaves one way to go on, that way is proposed (jump-forward
// decoding), and a lookup is cut to the tokens that the constraint allows. Proposals are made in every step, because a
// lookup is cheap and shows how good they are; they are verified only where the policy says that it pays.

import type { DraftPolicy } from './draft-policy.ts';
import { CPU_DRAFTS, type DraftOffer, LONGEST_DRAFT } from './draft-policy.ts';
import type { Draft, DraftableSequence, Drafter, DraftStep } from './drafter.ts';
import { lookUpContinuation } from './look-up-continuation.ts';

type Proposal = Pick<Draft, 'proposed' | 'source'>;

const NOTHING: Proposal = { proposed: new Int32Array(0), source: 'text' };

export class PromptLookupDrafter implements Drafter {
  readonly #policy: DraftPolicy;
  /** Work memory of a proposal. */
  readonly #found = new Int32Array(LONGEST_DRAFT);

  constructor(policy: DraftPolicy = CPU_DRAFTS) {
    this.#policy = policy;
  }

  draft(decodes: readonly DraftableSequence[], { isAlone, logitsRoom }: DraftStep): readonly Draft[] {
    const policy = this.#policy;
    // Jump-forward decoding fills a mask before the model call: only where a draft that is surely right would be verified.
    const jumpsForward = isAlone && policy.chooseLength(1, decodes.length) > 0;
    const proposals = decodes.map(sequence => this.#propose(sequence, { jumpsForward }));
    let roomLeft = logitsRoom;
    const offers = proposals.map(({ proposed, source }, index): DraftOffer => {
      const rate = decodes[index]!.acceptance.of(source);
      const length = Math.min(policy.chooseLength(rate, decodes.length), proposed.length, roomLeft);
      roomLeft -= length;
      return { rate, length };
    });
    const lengths = isAlone ? policy.settle(offers) : offers.map(() => 0);
    return proposals.map((proposal, index) => ({ ...proposal, length: lengths[index]! }));
  }

  #propose(sequence: DraftableSequence, { jumpsForward }: { readonly jumpsForward: boolean }): Proposal {
    const { group, outputTokenIds, tokenIds, tokenCount, constraint } = sequence;
    const { maxTokens, eosTokenIds, stopTokenIds } = group.submitted;
    const found = this.#found;
    // The last token before the limit is drawn after the draft.
    const maxLength = Math.min(found.length, maxTokens - outputTokenIds.length - 1);
    const onlyCount = jumpsForward && constraint !== null ? constraint.jumpForward(found, maxLength) : 0;
    if (onlyCount > 0) return { proposed: found.slice(0, onlyCount), source: 'constraint' };
    if (maxLength <= 0 || !lookUpContinuation(tokenIds, tokenCount, found)) return NOTHING;
    const continues = (tokenId: number) => !eosTokenIds.includes(tokenId) && !stopTokenIds.includes(tokenId);
    let length = 0;
    while (length < maxLength && continues(found[length]!)) length++;
    if (constraint !== null && length > 0) length = constraint.countAllowed(found, length);
    return length === 0 ? NOTHING : { proposed: found.slice(0, length), source: 'text' };
  }
}
