// The state of a token side and what it counts. Counts are sent with every step. Callers: health and metrics, through the links.

/** The state of a token side, as its link sees it. */
export type CoreLinkState = 'loading' | 'ready' | 'restarting' | 'failed' | 'closed';

/** How busy a token side is and what it has done so far. */
export interface CoreStats {
  readonly runningCount: number;
  readonly waitingCount: number;
  readonly freeSlotCount: number;
  /** Share of the cache that running sequences hold, 0 to 1. */
  readonly cacheUsedShare: number;
  readonly stepCount: number;
  /** Since the start: how often a sequence lost its place before its end. */
  readonly preemptionCount: number;
  /** Since the start: prompt tokens of admitted requests. */
  readonly cacheQueryTokenCount: number;
  /** Those of them that came from the prefix cache. */
  readonly cacheHitTokenCount: number;
  /** Since the start: tokens that were guessed ahead. */
  readonly draftedTokenCount: number;
  /** Those of them that were right. */
  readonly acceptedTokenCount: number;
  /** Of a model that is sampled where its logits lie. */
  readonly deviceSampling?: DeviceSamplingStats;
}

/** Since the start. */
export interface DeviceSamplingStats {
  /** Rows of logits that were asked about. */
  readonly rowCount: number;
  /** Those of them that came to the process as a whole, since less could not decide. */
  readonly fetchedRowCount: number;
  /** Everything that came from the device for sampling. */
  readonly readBytes: number;
}

/** Of a token side that has nothing and has done nothing. */
export const IDLE_STATS: CoreStats = {
  runningCount: 0,
  waitingCount: 0,
  freeSlotCount: 0,
  cacheUsedShare: 0,
  stepCount: 0,
  preemptionCount: 0,
  cacheQueryTokenCount: 0,
  cacheHitTokenCount: 0,
  draftedTokenCount: 0,
  acceptedTokenCount: 0,
};
