// Candidates: the few tokens of a row that are examined one by one, with their logits. One instance per sampler: its arrays
// have the size of the vocabulary and are reused.

export class Candidates {
  /** Token ids, ascending. Valid up to `count`. */
  readonly tokenIds: Int32Array;
  /** Of `tokenIds`, at the same index. */
  readonly logits: Float32Array;
  count = 0;

  constructor(vocabSize: number) {
    this.tokenIds = new Int32Array(vocabSize);
    this.logits = new Float32Array(vocabSize);
  }

  /** Makes one token the only candidate. */
  keepOnly(tokenId: number, logit: number): void {
    this.tokenIds[0] = tokenId;
    this.logits[0] = logit;
    this.count = 1;
  }
}
