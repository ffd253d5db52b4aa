// The retention policy: keeps the newest and the best candidates by a metric. Pure. Used by retention.ts.

export interface RetentionPolicy {
  /** Number of newest candidates to keep. */
  readonly newestCount: number;
  /** Number of best candidates to keep besides; may be 0. */
  readonly bestCount: number;
}

export interface RetentionCandidate {
  /** Larger is newer; no two are equal. */
  readonly order: number;
  /** Undefined without the metric; such a candidate is never among the best. */
  readonly score: number | undefined;
}

/** A list of kept candidates is truncated when it has grown to this many times its size. */
const SLACK = 4;
const MIN_CUT = 1_000;

/** Selects from a stream of candidates in any order; memory is proportional to the number kept. */
export class RetentionChoice<Candidate extends RetentionCandidate> {
  readonly #policy: RetentionPolicy;
  #newest: Candidate[] = [];
  #best: Candidate[] = [];

  constructor(policy: RetentionPolicy) {
    this.#policy = policy;
  }

  add(candidate: Candidate): void {
    const { newestCount, bestCount } = this.#policy;
    this.#newest.push(candidate);
    if (this.#newest.length > Math.max(MIN_CUT, newestCount * SLACK))
      this.#newest = newestOf(this.#newest, newestCount);
    if (bestCount === 0 || candidate.score === undefined) return;
    this.#best.push(candidate);
    if (this.#best.length > Math.max(MIN_CUT, bestCount * SLACK)) this.#best = bestOf(this.#best, bestCount);
  }

  /** The kept ones of all added candidates. */
  kept(): ReadonlySet<Candidate> {
    const { newestCount, bestCount } = this.#policy;
    return new Set([...newestOf(this.#newest, newestCount), ...bestOf(this.#best, bestCount)]);
  }
}

function newestOf<Candidate extends RetentionCandidate>(candidates: Candidate[], count: number): Candidate[] {
  return candidates.sort((a, b) => b.order - a.order).slice(0, count);
}

/** The newer candidate wins a tie. */
function bestOf<Candidate extends RetentionCandidate>(candidates: Candidate[], count: number): Candidate[] {
  return candidates.sort((a, b) => b.score! - a.score! || b.order - a.order).slice(0, count);
}
