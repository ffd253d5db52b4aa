// Recurrent layers as graphs of one operator, with a pool of states of their own, and what they should give in double precision.

import { float, int } from '@ortler/onnx';
import { Random } from '../support/random.ts';
import {
  type CallValues,
  floatConstant,
  type OperatorGraph,
  type OperatorOptions,
  OperatorSession,
} from './operator-session.ts';

/** Inputs of a call besides the states, each `[tokens, columns]`, for all tokens of a sequence. */
export type TokenInputs = Readonly<Record<string, { readonly columns: number; readonly data: Float32Array }>>;

export interface RecurrentOperator {
  readonly graph: OperatorGraph;
  readonly inputs: TokenInputs;
  readonly outputColumns: number;
  readonly stateShape: readonly number[];
  /** Results of all tokens. */
  readonly expected: Float64Array;
}

export interface ConvolutionShape {
  readonly channels: number;
  readonly kernel: number;
  readonly isGated: boolean;
  readonly hasBias: boolean;
  /** Columns of the input that are not read. */
  readonly spareColumns: number;
  readonly seed: number;
}

export interface DeltaShape {
  readonly keyHeads: number;
  readonly valueHeads: number;
  readonly keySize: number;
  readonly valueSize: number;
  /** Columns before those of the gate. */
  readonly gateStart: number;
  /** Heads of values take the heads of keys in turns. */
  readonly keysInTurns?: boolean;
  readonly seed: number;
}

export interface MambaShape {
  readonly heads: number;
  readonly headSize: number;
  readonly groups: number;
  readonly stateSize: number;
  readonly norm: 'none' | 'first' | 'last';
  readonly normGroups: number;
  readonly leastStep: number;
  /** Columns before those of the gate. */
  readonly gateStart: number;
  readonly seed: number;
}

const silu = (x: number): number => x / (1 + Math.exp(-x));

const STATE_INPUTS = (shape: readonly number[]) =>
  [
    { name: 'past', type: 'float32', shape: [0, ...shape] },
    { name: 'reads', type: 'int32', shape: [0] },
    { name: 'writes', type: 'int32', shape: [0, 0] },
  ] as const;

const outputsOf = (stateShape: readonly number[]) =>
  [
    { name: 'y', type: 'float32', rank: 3 },
    { name: 'present', type: 'float32', rank: 1 + stateShape.length },
  ] as const;

export function convolutionOperator(shape: ConvolutionShape, tokenCount: number): RecurrentOperator {
  const { channels, kernel, isGated, hasBias, spareColumns, seed } = shape;
  const random = new Random(seed);
  const columns = channels * (isGated ? 3 : 1) + spareColumns;
  const weights = random.floats(channels * kernel, 1);
  const bias = random.floats(channels, 1);
  const x = random.floats(tokenCount * columns, 2);
  const stateShape = [kernel - 1, channels];
  const expected = new Float64Array(tokenCount * channels);
  const value = (t: number, c: number): number => {
    if (t < 0) return 0;
    const own = x[t * columns + c]!;
    return isGated ? Math.fround(own * x[t * columns + 2 * channels + c]!) : own;
  };
  for (let t = 0; t < tokenCount; t++)
    for (let c = 0; c < channels; c++) {
      let sum = hasBias ? bias[c]! : 0;
      for (let i = 0; i < kernel; i++) sum += weights[c * kernel + i]! * value(t - kernel + 1 + i, c);
      expected[t * channels + c] = isGated ? x[t * columns + channels + c]! * sum : silu(sum);
    }
  return {
    graph: {
      opType: 'CausalConvolution',
      inputs: [
        { name: 'x', type: 'float32', shape: [0, 0, columns] },
        ...STATE_INPUTS(stateShape),
        floatConstant('weights', [channels, 1, kernel], weights),
        ...(hasBias ? [floatConstant('bias', [channels], bias)] : []),
      ],
      outputs: outputsOf(stateShape),
      attributes: {
        channels: int(channels),
        kernel: int(kernel),
        ...(isGated ? { gated: int(1) } : { activation: int(1) }),
      },
    },
    inputs: { x: { columns, data: x } },
    outputColumns: channels,
    stateShape,
    expected,
  };
}

export function deltaOperator(shape: DeltaShape, tokenCount: number): RecurrentOperator {
  const { keyHeads, valueHeads, keySize, valueSize, gateStart, keysInTurns = false, seed } = shape;
  const random = new Random(seed);
  const keys = keyHeads * keySize;
  const values = valueHeads * valueSize;
  const columns = 2 * keys + values;
  const zColumns = gateStart + values;
  const qkv = random.floats(tokenCount * columns, 1);
  const gates = random.floats(tokenCount * 2 * valueHeads, 4);
  const z = random.floats(tokenCount * zColumns, 2);
  const decayLog = random.floats(valueHeads, 2);
  const decayBias = random.floats(valueHeads, 3);
  const norm = random.floats(valueSize, 1);
  const epsilon = 1e-6;
  const expected = new Float64Array(tokenCount * values);
  const states = Array.from({ length: valueHeads }, () => new Float64Array(keySize * valueSize));
  for (let t = 0; t < tokenCount; t++)
    for (let head = 0; head < valueHeads; head++) {
      const keyHead = keysInTurns ? head % keyHeads : Math.floor(head / (valueHeads / keyHeads));
      const vector = (start: number, size: number) =>
        Float64Array.from(qkv.subarray(t * columns + start, t * columns + start + size));
      const unit = (x: Float64Array): Float64Array => {
        const length = Math.sqrt(x.reduce((sum, each) => sum + each * each, 0) + 1e-6);
        return x.map(each => each / length);
      };
      const query = unit(vector(keyHead * keySize, keySize)).map(each => each / Math.sqrt(keySize));
      const key = unit(vector(keys + keyHead * keySize, keySize));
      const value = vector(2 * keys + head * valueSize, valueSize);
      const b = gates[t * 2 * valueHeads + head]!;
      const a = gates[t * 2 * valueHeads + valueHeads + head]!;
      const decay = Math.exp(-Math.exp(decayLog[head]!) * Math.log1p(Math.exp(a + decayBias[head]!)));
      const beta = 1 / (1 + Math.exp(-b));
      const state = states[head]!;
      const result = new Float64Array(valueSize);
      for (let j = 0; j < valueSize; j++) {
        let held = 0;
        for (let i = 0; i < keySize; i++) held += decay * state[i * valueSize + j]! * key[i]!;
        const update = beta * (value[j]! - held);
        for (let i = 0; i < keySize; i++) {
          const at = i * valueSize + j;
          state[at] = decay * state[at]! + key[i]! * update;
          result[j]! += state[at]! * query[i]!;
        }
      }
      const square = result.reduce((sum, each) => sum + each * each, 0) / valueSize;
      for (let j = 0; j < valueSize; j++) {
        const gate = silu(z[t * zColumns + gateStart + head * valueSize + j]!);
        expected[(t * valueHeads + head) * valueSize + j] =
          (result[j]! / Math.sqrt(square + epsilon)) * norm[j]! * gate;
      }
    }
  const stateShape = [valueHeads, keySize, valueSize];
  return {
    graph: {
      opType: 'GatedDeltaNet',
      inputs: [
        { name: 'qkv', type: 'float32', shape: [0, 0, columns] },
        ...STATE_INPUTS(stateShape),
        { name: 'gates', type: 'float32', shape: [0, 0, 2 * valueHeads] },
        { name: 'z', type: 'float32', shape: [0, 0, zColumns] },
        floatConstant('decay_log', [valueHeads], decayLog),
        floatConstant('decay_bias', [valueHeads], decayBias),
        floatConstant('norm', [valueSize], norm),
      ],
      outputs: outputsOf(stateShape),
      attributes: {
        key_heads: int(keyHeads),
        value_heads: int(valueHeads),
        key_size: int(keySize),
        value_size: int(valueSize),
        gate_start: int(gateStart),
        epsilon: float(epsilon),
        keys_in_turns: int(keysInTurns ? 1 : 0),
      },
    },
    inputs: {
      qkv: { columns, data: qkv },
      gates: { columns: 2 * valueHeads, data: gates },
      z: { columns: zColumns, data: z },
    },
    outputColumns: values,
    stateShape,
    expected,
  };
}

export function mambaOperator(shape: MambaShape, tokenCount: number): RecurrentOperator {
  const { heads, headSize, groups, stateSize, norm, normGroups, leastStep, gateStart, seed } = shape;
  const random = new Random(seed);
  const width = heads * headSize;
  const columns = width + 2 * groups * stateSize;
  const zColumns = gateStart + width;
  const xbc = random.floats(tokenCount * columns, 1);
  const dt = random.floats(tokenCount * heads, 4);
  const z = random.floats(tokenCount * zColumns, 2);
  const decayLog = random.floats(heads, 2);
  const stepBias = random.floats(heads, 3);
  const skip = random.floats(heads, 1);
  const normWeight = random.floats(width, 1);
  const epsilon = 1e-5;
  const expected = new Float64Array(tokenCount * width);
  const states = Array.from({ length: heads }, () => new Float64Array(stateSize * headSize));
  for (let t = 0; t < tokenCount; t++) {
    const result = expected.subarray(t * width, (t + 1) * width);
    for (let head = 0; head < heads; head++) {
      const group = Math.floor(head / (heads / groups));
      const softplus = Math.log1p(Math.exp(dt[t * heads + head]! + stepBias[head]!));
      const step = Math.max(softplus, leastStep);
      const decay = Math.exp(-Math.exp(decayLog[head]!) * step);
      const state = states[head]!;
      for (let p = 0; p < headSize; p++) {
        const x = xbc[t * columns + head * headSize + p]!;
        let y = skip[head]! * x;
        for (let n = 0; n < stateSize; n++) {
          const key = xbc[t * columns + width + group * stateSize + n]!;
          const query = xbc[t * columns + width + (groups + group) * stateSize + n]!;
          state[n * headSize + p] = decay * state[n * headSize + p]! + key * step * x;
          y += query * state[n * headSize + p]!;
        }
        result[head * headSize + p] = y;
      }
    }
    const gate = (i: number) => silu(z[t * zColumns + gateStart + i]!);
    if (norm !== 'first') for (let i = 0; i < width; i++) result[i]! *= gate(i);
    const size = width / normGroups;
    for (let from = 0; norm !== 'none' && from < width; from += size) {
      const part = result.subarray(from, from + size);
      const square = part.reduce((sum, each) => sum + each * each, 0) / size;
      for (let i = 0; i < size; i++) part[i]! *= normWeight[from + i]! / Math.sqrt(square + epsilon);
    }
    if (norm === 'first') for (let i = 0; i < width; i++) result[i]! *= gate(i);
  }
  const stateShape = [heads, stateSize, headSize];
  return {
    graph: {
      opType: 'Mamba2',
      inputs: [
        { name: 'xbc', type: 'float32', shape: [0, 0, columns] },
        ...STATE_INPUTS(stateShape),
        { name: 'dt', type: 'float32', shape: [0, 0, heads] },
        { name: 'z', type: 'float32', shape: [0, 0, zColumns] },
        floatConstant('decay_log', [heads], decayLog),
        floatConstant('step_bias', [heads], stepBias),
        floatConstant('skip', [heads], skip),
        ...(norm === 'none' ? [] : [floatConstant('norm', [width], normWeight)]),
      ],
      outputs: outputsOf(stateShape),
      attributes: {
        heads: int(heads),
        head_size: int(headSize),
        groups: int(groups),
        state_size: int(stateSize),
        gate_start: int(gateStart),
        least_step: float(leastStep),
        norm_groups: int(normGroups),
        ...(norm === 'first' ? { norm_first: int(1) } : {}),
        epsilon: float(epsilon),
      },
    },
    inputs: {
      xbc: { columns, data: xbc },
      dt: { columns: heads, data: dt },
      z: { columns: zColumns, data: z },
    },
    outputColumns: width,
    stateShape,
    expected,
  };
}

/** A row of a call: some tokens of the sequence, and where its states are. */
export interface RecurrentRow {
  readonly from: number;
  readonly to: number;
  /** -1: none. */
  readonly read: number;
  /** By token of the row; -1: none. */
  readonly writes: readonly number[];
}

export class RecurrentSession implements Disposable {
  readonly #operator: RecurrentOperator;
  readonly #session: OperatorSession;
  /** Shape: `[entries, ...]`; what was never written is NaN. */
  readonly pool: Float32Array;
  readonly #entryCount: number;

  private constructor(operator: RecurrentOperator, session: OperatorSession, entryCount: number) {
    this.#operator = operator;
    this.#session = session;
    this.#entryCount = entryCount;
    this.pool = new Float32Array(entryCount * this.stateLength).fill(Number.NaN);
  }

  static async create(
    operator: RecurrentOperator,
    options: OperatorOptions,
    entryCount = 8,
  ): Promise<RecurrentSession> {
    return new RecurrentSession(operator, await OperatorSession.create(operator.graph, options), entryCount);
  }

  get stateLength(): number {
    return this.#operator.stateShape.reduce((product, dim) => product * dim, 1);
  }

  /** All rows, of equally many tokens, in one call. Shape of the result: `[rows, tokens, columns]`. */
  async run(rows: readonly RecurrentRow[]): Promise<Float32Array> {
    const { inputs, outputColumns, stateShape } = this.#operator;
    const length = rows[0]!.to - rows[0]!.from;
    const batch = rows.length;
    const y = new Float32Array(batch * length * outputColumns);
    const pool = { type: 'float32', shape: [this.#entryCount, ...stateShape], data: this.pool } as const;
    const values: CallValues = Object.fromEntries(
      Object.entries(inputs).map(([name, { columns, data }]) => {
        const packed = new Float32Array(batch * length * columns);
        for (const [index, { from, to }] of rows.entries())
          packed.set(data.subarray(from * columns, to * columns), index * length * columns);
        return [name, { type: 'float32', shape: [batch, length, columns], data: packed }];
      }),
    );
    const reads = Int32Array.from(rows, ({ read }) => read);
    const writes = Int32Array.from(rows.flatMap(row => row.writes));
    await this.#session.run(
      {
        ...values,
        past: pool,
        reads: { type: 'int32', shape: [batch], data: reads },
        writes: { type: 'int32', shape: [batch, length], data: writes },
      },
      { y: { type: 'float32', shape: [batch, length, outputColumns], data: y }, present: pool },
    );
    return y;
  }

  /** The sequence in calls of these lengths, whose states take turns. */
  async runChunks(lengths: readonly number[]): Promise<Float32Array> {
    const results: number[] = [];
    let from = 0;
    for (const [index, length] of lengths.entries()) {
      const writes = Array.from({ length }, (_, t) => (t === length - 1 ? index % 2 : -1));
      const read = from === 0 ? -1 : 1 - (index % 2);
      results.push(...(await this.run([{ from, to: from + length, read, writes }])));
      from += length;
    }
    return Float32Array.from(results);
  }

  [Symbol.dispose](): void {
    this.#session[Symbol.dispose]();
  }
}
