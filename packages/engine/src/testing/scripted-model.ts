// A scripted model: its logits are a known function of the tokens so far. Its cache is the list of tokens of each slot,
// so a wrong slot, a missed copy or a lost chunk shows up as a wrong next token.
// `scripted-block-model.ts` is the same over blocks.

import type {
  RunnerFacts,
  RunnerRow,
  SlotModelRunner,
  StatePool,
  WindowRings,
} from '../core/runners/model-runner.ts';

export interface ScriptedModelOptions {
  readonly vocabSize?: number;
  readonly contextLength?: number;
  readonly slotCount?: number;
  /** Only for a model with slots. Default: none. */
  readonly rings?: Omit<WindowRings, 'save' | 'load'> | undefined;
  /** Only for a recurrent model with slots. Default: none. */
  readonly states?: StatePool | undefined;
  /** Maximum number of logits rows of a call. Default: one per slot and 8 more. */
  readonly logitsLimit?: number;
  /** The token the model prefers after this history. Default: `hashTokens` of it, modulo the vocabulary. */
  readonly nextToken?: (history: readonly number[]) => number;
  /**
   * How far the preferred token's logit is above the others. 0 makes draws spread over the vocabulary.
   * Default: 40.
   */
  readonly peak?: number;
  /** Whether the logits after this history are not numbers. Default: never. */
  readonly logitsFault?: (history: readonly number[]) => boolean;
  /** Unit: milliseconds. How long a call takes. Default: 0, without a timer. */
  readonly delayMs?: number;
  /** Whether the call with this index (from 0) fails, after it has written its keys and values. */
  readonly failsAt?: (callIndex: number) => boolean;
}

/** Base of both scripted models, which differ in how they store the tokens of sequences. */
export abstract class ScriptedRunner {
  readonly facts: RunnerFacts;
  /** Rows of every call so far, for tests that look at the schedule. */
  readonly calls: {
    readonly slot: number;
    readonly tokenCount: number;
    readonly computedLength: number;
    readonly logitsCount: number;
  }[][] = [];
  isClosed = false;
  readonly #options: ScriptedModelOptions;

  constructor(options: ScriptedModelOptions) {
    const slotCount = options.slotCount ?? 4;
    this.#options = options;
    this.facts = {
      kind: 'scripted',
      vocabSize: options.vocabSize ?? 64,
      contextLength: options.contextLength ?? 256,
      slotCount,
      logitsLimit: options.logitsLimit ?? slotCount + 8,
      backend: 'node',
      device: 'cpu',
      onnxRuntimeVersion: 'none',
      cacheBytes: 0,
    };
  }

  async run(rows: readonly RunnerRow[]): Promise<Float32Array> {
    const { delayMs, failsAt } = this.#options;
    const callIndex = this.calls.length;
    this.calls.push(
      rows.map(({ slot, tokenIds, computedLength, logitsCount }) => ({
        slot,
        tokenCount: tokenIds.length,
        computedLength,
        logitsCount,
      })),
    );
    if (delayMs !== undefined) await new Promise(resolve => setTimeout(resolve, delayMs));
    this.compute(rows);
    if (failsAt?.(callIndex) === true) throw new Error(`Scripted failure of call ${callIndex}.`);
    return this.#logits(rows);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** Mutates: writes the rows' tokens. Throws: when a row claims tokens that are not there, or exceeds its memory. */
  protected abstract compute(rows: readonly RunnerRow[]): void;

  /** The tokens of a row's sequence, those of the row included. */
  protected abstract historyOf(row: RunnerRow): readonly number[];

  #logits(rows: readonly RunnerRow[]): Float32Array {
    const { vocabSize, logitsLimit } = this.facts;
    const rowCount = rows.reduce((sum, row) => sum + row.logitsCount, 0);
    if (rowCount > logitsLimit) throw new Error(`${rowCount} logits rows are over the limit ${logitsLimit}.`);
    const logits = new Float32Array(rowCount * vocabSize);
    let index = 0;
    for (const row of rows) {
      const { slot, tokenIds, logitsCount } = row;
      if (logitsCount > tokenIds.length) throw new Error(`Slot ${slot} has more logits rows than tokens.`);
      const history = this.historyOf(row);
      for (let end = history.length - logitsCount + 1; end <= history.length; end++)
        logits.set(this.#logitsAfter(history.slice(0, end)), index++ * vocabSize);
    }
    return logits;
  }

  #logitsAfter(history: readonly number[]): Float32Array {
    const logits = scriptedLogits(history, this.facts.vocabSize, this.#options);
    return this.#options.logitsFault?.(history) === true ? logits.fill(Number.NaN) : logits;
  }
}

/** A model with slots. Rows that attend to positions which a window's cache has lost, or whose state is that of other tokens, are refused. */
export class ScriptedModel extends ScriptedRunner implements SlotModelRunner {
  readonly cacheKind = 'slots';
  readonly rings: WindowRings | undefined;
  readonly states: StatePool | undefined;
  readonly #slots: number[][];
  /** By entry: the tokens that the state holds. */
  readonly #states: (readonly number[])[] = [];
  /** By slot: the key at each place of its ring, a hash of the position and of all tokens up to it. */
  readonly #rings: number[][];
  /** Pieces that were put back into a ring so far. */
  loadedPieceCount = 0;
  /** By entry: the keys of a piece. */
  readonly #pieces: number[][] = [];

  constructor(options: ScriptedModelOptions = {}) {
    super(options);
    this.rings = options.rings && {
      ...options.rings,
      save: (slot, start, entry) => {
        this.#pieces[entry] = this.#placesOfPiece(start, entry).map(place => this.#rings[slot]![place]!);
      },
      load: (slot, start, entry) => {
        this.loadedPieceCount++;
        const keys = this.#pieces[entry]!;
        for (const [index, place] of this.#placesOfPiece(start, entry).entries())
          this.#rings[slot]![place] = keys[index]!;
      },
    };
    this.states = options.states;
    this.#slots = Array.from({ length: this.facts.slotCount }, () => []);
    this.#rings = this.#slots.map(() => []);
  }

  copySlot(from: number, to: number, length: number): void {
    this.#slots[to] = this.#slots[from]!.slice(0, length);
    this.#rings[to] = this.#rings[from]!.slice(0, length);
  }

  swapSlots(a: number, b: number, length: number): void {
    const [first, ringOfFirst] = [this.#slots[a]!.slice(0, length), this.#rings[a]!];
    this.#slots[a] = this.#slots[b]!.slice(0, length);
    this.#slots[b] = first;
    this.#rings[a] = this.#rings[b]!.slice(0, length);
    this.#rings[b] = ringOfFirst.slice(0, length);
  }

  protected compute(rows: readonly RunnerRow[]): void {
    for (const row of rows) this.#write(row);
    if (this.states !== undefined) this.#computeStates(rows);
  }

  protected historyOf({ slot }: RunnerRow): readonly number[] {
    return this.#slots[slot]!;
  }

  #write(row: RunnerRow): void {
    const history = this.#slots[row.slot];
    if (history === undefined) throw new Error(`Slot ${row.slot} does not exist.`);
    if (history.length < row.computedLength) {
      throw new Error(
        `Slot ${row.slot} holds ${history.length} tokens but ${row.computedLength} are claimed.`,
      );
    }
    history.length = row.computedLength;
    history.push(...row.tokenIds);
    this.#writeRing(row);
    if (history.length > this.facts.contextLength) throw new Error(`Slot ${row.slot} is over the context.`);
  }

  /** Rows may be computed in any order. */
  #computeStates(rows: readonly RunnerRow[]): void {
    const isRead = new Set(rows.map(({ states }) => states?.read));
    const written = new Set<number>();
    for (const { slot, tokenIds, computedLength, states } of rows) {
      if (states === undefined) throw new Error(`The row of slot ${slot} has no states.`);
      const history = this.#slots[slot]!;
      const before = states.read === null ? [] : this.#states[states.read];
      if (before?.join() !== history.slice(0, computedLength).join())
        throw new Error(`Slot ${slot} reads the state of ${before?.join()}, not that of its tokens.`);
      for (const { offset, entry } of states.writes) {
        if (offset < 0 || offset >= tokenIds.length || entry < 0 || entry >= this.states!.count)
          throw new Error(`Slot ${slot} writes state ${entry} after token ${offset}.`);
        if (isRead.has(entry) || written.has(entry)) throw new Error(`State ${entry} is used twice.`);
        written.add(entry);
        this.#states[entry] = history.slice(0, computedLength + offset + 1);
      }
    }
  }

  /** All tokens of a row are written before the first one attends. */
  #writeRing({ slot, computedLength, tokenIds }: RunnerRow): void {
    if (this.rings === undefined) return;
    const { window, capacity } = this.rings;
    const ring = this.#rings[slot]!;
    const keys = keysOf(this.#slots[slot]!);
    const end = computedLength + tokenIds.length;
    for (let position = computedLength; position < end; position++)
      ring[position % capacity] = keys[position]!;
    for (let position = Math.max(0, computedLength + 1 - window); position < end; position++)
      if (ring[position % capacity] !== keys[position])
        throw new Error(`Slot ${slot} has lost position ${position}, to which its next token attends.`);
  }

  /** Places in a ring of the positions of a piece. */
  #placesOfPiece(start: number, entry: number): number[] {
    const { pieceLength, pieceCount, capacity } = this.rings!;
    if (start % pieceLength !== 0 || entry < 0 || entry >= pieceCount)
      throw new Error(`There is no piece ${entry} of position ${start}.`);
    return Array.from({ length: pieceLength }, (_, index) => (start + index) % capacity);
  }
}

/** A key for each position of a history: it depends on all tokens up to there. */
function keysOf(history: readonly number[]): number[] {
  let hash = 0x811c9dc5;
  return history.map((tokenId, position) => {
    hash = Math.imul(hash ^ tokenId, 0x01000193) >>> 0;
    return hash * CONTEXT_LIMIT + position;
  });
}

/** Above all positions, and small enough that a hash of 32 bits fits beside them. */
const CONTEXT_LIMIT = 2 ** 20;

/** Logits after a history. Shape: `[vocabSize]`. */
export function scriptedLogits(
  history: readonly number[],
  vocabSize: number,
  options: Pick<ScriptedModelOptions, 'nextToken' | 'peak'> = {},
): Float32Array {
  const { nextToken, peak = 40 } = options;
  const hash = hashTokens(history);
  const logits = new Float32Array(vocabSize);
  for (let id = 0; id < vocabSize; id++) logits[id] = (Math.imul(hash ^ id, 0x9e3779b1) >>> 0) / 2 ** 30;
  logits[nextToken?.(history) ?? hash % vocabSize]! += peak;
  return logits;
}

/** A number that depends on every token of the history and on their order (FNV-1a). */
export function hashTokens(history: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const tokenId of history) hash = Math.imul(hash ^ tokenId, 0x01000193) >>> 0;
  return (hash ^ (hash >>> 15)) >>> 0;
}
