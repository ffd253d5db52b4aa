// Which of a number of things a retention rule keeps: the newest, and the best by a metric. Pure; the commands of the
// command line and the tests call it.

export interface RetentionPolicy {
  /** How many of the newest stay. */
  readonly newestCount: number;
  /** How many of the best stay besides; 0 for none. */
  readonly bestCount: number;
}

export interface RetentionCandidate {
  /** Larger is newer; no two are equal. */
  readonly order: number;
  /** Undefined: it has no such metric, so it is never among the best. */
  readonly score: number | undefined;
}

/** The best is kept as a list that is cut when it has grown to this many times its size. */
const SLACK = 4;
const MIN_CUT = 1_000;

/** Takes candidates one by one, in any order, so that a million need no room but for those that stay. */
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

  /** What stays of everything that was added. */
  kept(): ReadonlySet<Candidate> {
    const { newestCount, bestCount } = this.#policy;
    return new Set([...newestOf(this.#newest, newestCount), ...bestOf(this.#best, bestCount)]);
  }
}

function newestOf<Candidate extends RetentionCandidate>(candidates: Candidate[], count: number): Candidate[] {
  return candidates.sort((a, b) => b.order - a.order).slice(0, count);
}

/** Of equal scores the newer is better. */
function bestOf<Candidate extends RetentionCandidate>(candidates: Candidate[], count: number): Candidate[] {
  return candidates.sort((a, b) => b.score! - a.score! || b.order - a.order).slice(0, count);
}
