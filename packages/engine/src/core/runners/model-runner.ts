// The interface of models that compute logits. Implementations: `slots/slots-runner.ts` (a contiguous cache
// on the CPU), `device-slots/device-slots-runner.ts` (the same on a GPU), `paged/paged-runner.ts` (PagedAttention on a GPU) and
// `../../testing/scripted-model.ts` (a known function of history).

/** A state that a row keeps. */
export interface StateWrite {
  /** Index of the row's token after which the state is. */
  readonly offset: number;
  /** Entry of the pool. */
  readonly entry: number;
}

/** States of a row of a recurrent model. No row of a call reads an entry that one writes. */
export interface RowStates {
  /** Entry with the state before the row's tokens; null where they are the first of their sequence. */
  readonly read: number | null;
  readonly writes: readonly StateWrite[];
}

/** The states that a runner of a recurrent model has room for. */
export interface StatePool {
  /** Entries. */
  readonly count: number;
  /** Interval between the states of a prompt that are kept for prefix caching. Unit: tokens. */
  readonly interval: number;
}

/** One row of a step: some tokens of one sequence to compute. */
export interface RunnerRow {
  /** Place of the sequence among those in the cache: for a runner with slots, the slot of its keys and values. */
  readonly slot: number;
  /** Only for a runner with blocks: those of the sequence's tokens, these ones included, in their order. */
  readonly blocks?: Int32Array;
  /** Only for a recurrent model. */
  readonly states?: RowStates;
  /** Tokens to compute now, directly after the `computedLength` tokens whose keys and values exist. */
  readonly tokenIds: Int32Array;
  readonly computedLength: number;
  /**
   * How many of these tokens, counted from the last one back, get logits: none for a chunk inside a prompt, 1
   * where the next token is drawn, more where log probabilities of the prompt are asked for.
   */
  readonly logitsCount: number;
}

export interface RunnerFacts {
  readonly kind: 'slots' | 'paged' | 'scripted';
  readonly vocabSize: number;
  readonly contextLength: number;
  /** Maximum number of sequences in the cache at the same time. */
  readonly slotCount: number;
  /** Maximum number of logits rows of one `run`, over all its rows: what its memory for them holds. At least `slotCount`. */
  readonly logitsLimit: number;
  readonly backend: 'native' | 'node';
  readonly device: string;
  readonly onnxRuntimeVersion: string;
  /** KV caches, as reserved; memory that no token was written to may not be in use. Unit: bytes. */
  readonly cacheBytes: number;
  /** Instruction set of the kernels that the graph uses: `amx`, `avx512`, `avxvnni`, `avx2`, `neon`. Absent: it uses none of them. */
  readonly kernels?: string;
  /** Why weights stay in their file. Absent: they are in memory. */
  readonly memoryNote?: string;
}

export interface RunOptions {
  /**
   * Decodes may be computed in the caller's thread, which has nothing else to do meanwhile. Chunks of prompts
   * take longer, and leave it free. Default: false.
   */
  readonly mayBlock?: boolean;
}

interface RunnerBase {
  readonly facts: RunnerFacts;
  /**
   * Computes all rows. With slots, decodes share one model call and chunks of prompts may take one each; with blocks, all
   * rows are one call.
   *
   * Returns logits in row order and, within a row, in token order. Shape: `[sum of logitsCount, vocabSize]`, float32.
   * The array is valid until the next call.
   * Mutates: the cache of the rows' sequences, from `computedLength` on. When it throws, tokens before
   * `computedLength` are untouched, so the same step may be tried again.
   */
  run(rows: readonly RunnerRow[], options?: RunOptions): Promise<Float32Array>;
  close(): Promise<void>;
}

/** The caches of layers with a window that are shorter than the context: rings of the last positions, and a pool for pieces of them. */
export interface WindowRings {
  /** Tokens that one attends to, itself included; the most of all layers. */
  readonly window: number;
  /** Positions of a ring. Unit: tokens. */
  readonly capacity: number;
  /** Positions of a piece. Unit: tokens. */
  readonly pieceLength: number;
  /** Entries of the pool. */
  readonly pieceCount: number;
  /** Makes `entry` a copy of the piece that begins at position `start` of a slot. */
  save(slot: number, start: number, entry: number): void;
  /** Puts it back, into the same or another slot. */
  load(slot: number, start: number, entry: number): void;
}

/** Each sequence has a contiguous place for a whole context, layers with a window for the last positions. */
export interface SlotModelRunner extends RunnerBase {
  readonly cacheKind: 'slots';
  /** Absent: all layers hold whole contexts. */
  readonly rings?: WindowRings | undefined;
  /** Absent: a model without recurrent layers. */
  readonly states?: StatePool | undefined;
  /** Makes slot `to` a copy of the first `length` tokens of slot `from`. */
  copySlot(from: number, to: number, length: number): void;
  /** Exchanges the first `length` tokens of two slots. */
  swapSlots(a: number, b: number, length: number): void;
}

/** Sequences have blocks of a pool, which they may share. */
export interface BlockModelRunner extends RunnerBase {
  readonly cacheKind: 'blocks';
  readonly blockCount: number;
  /** Tokens of a block. */
  readonly blockLength: number;
  /** Makes block `to` a copy of block `from`. Copies happen in the order of their calls, before the next `run`. */
  copyBlock(from: number, to: number): void;
}

/** Computes keys, values and logits. Holds the cache; knows nothing of requests, sampling or text. */
export type ModelRunner = SlotModelRunner | BlockModelRunner;
