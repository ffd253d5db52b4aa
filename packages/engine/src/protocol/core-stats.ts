// State and statistics of a token side. Statistics are sent with every step. Readers: health and metrics, through the links.

/** The state of a token side, as its link sees it. */
export type CoreLinkState = 'loading' | 'ready' | 'restarting' | 'failed' | 'closed';

/** Load of a token side, and its counters since the start. */
export interface CoreStats {
  readonly runningCount: number;
  readonly waitingCount: number;
  readonly freeSlotCount: number;
  /** Share of the cache that running sequences hold, 0 to 1. */
  readonly cacheUsedShare: number;
  readonly stepCount: number;
  /** Since the start: preemptions, that is, sequences that lost their place before their end. */
  readonly preemptionCount: number;
  /** Since the start: prompt tokens of admitted requests. */
  readonly cacheQueryTokenCount: number;
  /** Those of them that were hits of the prefix cache. */
  readonly cacheHitTokenCount: number;
  /** Since the start: tokens drafted by speculative decoding and verified. */
  readonly draftedTokenCount: number;
  /** Those of them that were accepted. */
  readonly acceptedTokenCount: number;
  /** Only of a model whose tokens are sampled on the device. */
  readonly deviceSampling?: DeviceSamplingStats;
}

/** Since the start. */
export interface DeviceSamplingStats {
  /** Rows of logits that were sampled on the device. */
  readonly rowCount: number;
  /** Those of them that were fetched whole, because the summary from the device could not decide. */
  readonly fetchedRowCount: number;
  /** Bytes read from the device for sampling. */
  readonly readBytes: number;
}

/** Statistics of a token side before its first request. */
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
