// The interface of every program in the comparison, which runs in its own process, and its messages.

/** Some token streams at once. */
export interface Work {
  /** Prompts, one for each stream, as token ids. */
  readonly prompts: readonly (readonly number[])[];
  /** Tokens to generate for each, greedily; the end of a sequence does not end it. */
  readonly outputLength: number;
  /** Streams that start only when the first one has this many tokens. Default: all start at once. */
  readonly starts?: readonly number[];
}

/** When the tokens of each stream came. Unit: milliseconds from the start of the work. */
export interface Timing {
  readonly startedMs: readonly number[];
  readonly stamps: readonly (readonly number[])[];
  readonly tokenIds: readonly (readonly number[])[];
}

export interface ContestantOptions {
  /** File or folder of the model, as this program wants it. */
  readonly modelPath: string;
  readonly threadCount: number;
  /** Maximum number of streams at once. */
  readonly maxStreams: number;
  /** Maximum number of tokens in one stream. */
  readonly contextLength: number;
  /** Bits of a number in the cache of keys and values. Default: as the program has them, 16 or 32. */
  readonly cacheBits?: 8;
  /** Program to run, where the contestant is not a library. */
  readonly program?: string;
  /** Of our engine: most prompt tokens of a step beside running answers. Default: the engine's own. */
  readonly mixedChunkLength?: number;
  /** Of our engine: every token is a step of its own. Default: the engine's own. */
  readonly speculativeDecoding?: 'off';
}

/** A loaded model in the contestant's process. */
export interface LoadedContestant {
  readonly version: string;
  /** False: streams of a work run one after the other. Default: true. */
  readonly isBatching?: boolean;
  /** Processes whose memory and processor time count. Default: this one. */
  readonly pids?: readonly number[];
  generate(prompt: readonly number[], outputLength: number, index: number): AsyncIterable<number>;
}

export type ToContestant =
  | { readonly kind: 'start'; readonly options: ContestantOptions }
  | { readonly kind: 'work'; readonly work: Work }
  | { readonly kind: 'usage' };

/** Of one process of a contestant. */
export interface Usage {
  readonly residentBytes: number;
  /** Of all threads since it started. Unit: milliseconds. */
  readonly processorMs: number;
}

export type FromContestant =
  | { readonly kind: 'started'; readonly version: string }
  | { readonly kind: 'timing'; readonly timing: Timing }
  | { readonly kind: 'usage'; readonly processes: readonly Usage[] }
  | { readonly kind: 'failed'; readonly message: string };
