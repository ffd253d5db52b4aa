// Counts of feedback by type and by day, added up page by page. Pure.

export interface CountedRow {
  readonly feedback_type?: unknown;
  readonly created_at?: unknown;
}

export interface FeedbackCounts {
  readonly total: number;
  /** The most frequent first. */
  readonly byType: readonly (readonly [type: string, count: number])[];
  /** Start of each day (UTC) in seconds since 1970, and its rows; days without rows between others have 0. */
  readonly days: readonly number[];
  readonly perDay: readonly number[];
}

const DAY_S = 86_400;

/** Adds rows up; one object for any number of pages. */
export class FeedbackTally {
  #total = 0;
  readonly #types = new Map<string, number>();
  readonly #days = new Map<number, number>();

  add(rows: readonly CountedRow[]): void {
    for (const { feedback_type, created_at } of rows) {
      this.#total++;
      const type = String(feedback_type);
      this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
      const atMs = Date.parse(String(created_at));
      if (Number.isNaN(atMs)) continue;
      const day = Math.floor(atMs / 1000 / DAY_S) * DAY_S;
      this.#days.set(day, (this.#days.get(day) ?? 0) + 1);
    }
  }

  counts(): FeedbackCounts {
    const known = [...this.#days.keys()];
    const first = Math.min(...known);
    const count = known.length === 0 ? 0 : (Math.max(...known) - first) / DAY_S + 1;
    const days = Array.from({ length: count }, (_, index) => first + index * DAY_S);
    return {
      total: this.#total,
      byType: [...this.#types].sort((left, right) => right[1] - left[1]),
      days,
      perDay: days.map(day => this.#days.get(day) ?? 0),
    };
  }
}
