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
  /** Sizes of the steps since the start. */
  readonly stepSizes: StepSizes;
  /** Since the start: preemptions, that is, sequences that lost their place before their end. */
  readonly preemptionCount: number;
  /** Since the start: prompt tokens of admitted requests. */
  readonly cacheQueryTokenCount: number;
  /** How many of these prompt tokens the prefix cache had. */
  readonly cacheHitTokenCount: number;
  /** Since the start: tokens drafted by speculative decoding and verified. */
  readonly draftedTokenCount: number;
  /** How many of these draft tokens were accepted. */
  readonly acceptedTokenCount: number;
  /** Only of a model whose tokens are sampled on the device. */
  readonly deviceSampling?: DeviceSamplingStats;
}

/** Upper bounds of the histogram of step sizes, inclusive. Source: vLLM's buckets of `iteration_tokens_total`. */
export const STEP_SIZE_BOUNDS: readonly number[] = [
  1, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384,
];

/** Tokens of steps, prompt and generated ones together, as a histogram. */
export interface StepSizes {
  /** Steps by size: one count for each of `STEP_SIZE_BOUNDS`, not cumulative, and one for larger steps. */
  readonly counts: readonly number[];
  /** Tokens of all steps. */
  readonly tokenCount: number;
}

/** Since the start. */
export interface DeviceSamplingStats {
  /** Rows of logits that were sampled on the device. */
  readonly rowCount: number;
  /** How many of these rows were fetched whole, because the summary from the device could not decide. */
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
  stepSizes: { counts: new Array<number>(STEP_SIZE_BOUNDS.length + 1).fill(0), tokenCount: 0 },
  preemptionCount: 0,
  cacheQueryTokenCount: 0,
  cacheHitTokenCount: 0,
  draftedTokenCount: 0,
  acceptedTokenCount: 0,
};
