// The output of a sequence while its draft is sampled: a copy that takes drawn tokens before they are committed, so that
// sampling changes no sequence. Made only for rows with a draft.

import type { OutputView } from './logits-processor.ts';
import type { TokenCounts } from './token-counts.ts';

export class TentativeOutput implements OutputView {
  readonly outputTokenIds: number[];
  readonly tokenCounts: TokenCounts | null;

  constructor({ outputTokenIds, tokenCounts }: OutputView) {
    this.outputTokenIds = [...outputTokenIds];
    this.tokenCounts = tokenCounts === null ? null : tokenCounts.copy();
  }

  /** Mutates: the output goes on with this token. */
  append(tokenId: number): void {
    this.outputTokenIds.push(tokenId);
    this.tokenCounts?.add(tokenId);
  }

  /** Mutates: takes the last token back. */
  takeBack(): void {
    const tokenId = this.outputTokenIds.pop();
    if (tokenId !== undefined) this.tokenCounts?.remove(tokenId);
  }
}
