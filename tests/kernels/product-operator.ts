// A `Product` with random weights: its graph, its calls, and what they give in float64.

import { WEIGHT_FORMATS } from '@ortler/kernels';
import { float, int, ints } from '@ortler/onnx';
import { Random } from '../support/random.ts';
import { fusedMultiplyAdd, normalise, toCodes } from './float32.ts';
import {
  floatConstant,
  type OperatorGraph,
  type OperatorInput,
  type OperatorOptions,
  OperatorSession,
} from './operator-session.ts';
import { interleaveTiles, randomMatrix, type TestMatrix } from './random-matrix.ts';

const ACTIVATIONS = { none: 0, silu: 1, gelu: 2 } as const;
const BLOCK = 32;
const EPSILON = 1e-5;

export interface ProductShape {
  readonly inputs: number;
  /** One to three matrices; in a gated product one, which is made twice. */
  readonly parts: readonly { readonly format: TestMatrix['format']; readonly outputs: number }[];
  readonly isGated: boolean;
  readonly activation: keyof typeof ACTIVATIONS;
  readonly hasNorm: boolean;
  readonly hasBias: boolean;
  readonly hasResidual: boolean;
  /** 16: activations are rounded to 8 bits, and what that leaves over to 8 more. */
  readonly activationBits: 8 | 16;
  readonly seed: number;
}

/** A product of one matrix with nothing fused. */
export function plainProduct(format: TestMatrix['format'], outputs: number, inputs: number): ProductShape {
  return {
    inputs,
    parts: [{ format, outputs }],
    isGated: false,
    activation: 'none',
    hasNorm: false,
    hasBias: false,
    hasResidual: false,
    activationBits: 8,
    seed: 1,
  };
}

export interface ProductRows {
  /** Shape: `[rows, inputs]`. */
  readonly x: Float32Array;
  /** Shape: `[rows, columns]`. */
  readonly residual: Float32Array | undefined;
}

export interface Expected {
  readonly values: Float64Array;
  /** How far float32 sums may be from each of them. */
  readonly bounds: Float64Array;
}

export class ProductWeights {
  readonly shape: ProductShape;
  readonly columns: number;
  readonly graph: OperatorGraph;
  /** Those of the columns; in a gated product gates and then ups, of the same columns. */
  readonly #matrices: readonly TestMatrix[];
  readonly #norm: Float32Array | undefined;
  readonly #bias: Float32Array | undefined;
  readonly #random: Random;

  constructor(shape: ProductShape) {
    const { inputs, parts, isGated, hasNorm, hasBias, seed } = shape;
    const random = new Random(seed);
    const matrices = (isGated ? [parts[0]!, parts[0]!] : parts).map(part =>
      randomMatrix({ ...part, inputs }, random),
    );
    this.shape = shape;
    this.columns = parts.reduce((sum, { outputs }) => sum + outputs, 0);
    this.#random = random;
    this.#matrices = matrices;
    this.#norm = hasNorm ? random.floats(inputs, 2) : undefined;
    this.#bias = hasBias ? random.floats(isGated ? 2 * this.columns : this.columns, 1) : undefined;
    this.graph = productGraph(shape, {
      tiles: isGated ? [interleaveTiles(matrices[0]!, matrices[1]!)] : matrices.map(({ tiles }) => tiles),
      norm: this.#norm,
      bias: this.#bias,
    });
  }

  /** Rows of different sizes, one of zeros among many. */
  randomRows(count: number): ProductRows {
    const { inputs, hasResidual } = this.shape;
    const x = this.#random.floats(count * inputs, 2);
    for (let row = 0; row < count; row++) {
      const factor = row === 6 ? 0 : 4 ** (this.#random.below(7) - 3);
      for (let i = row * inputs; i < (row + 1) * inputs; i++) x[i]! *= factor;
    }
    return { x, residual: hasResidual ? this.#random.floats(count * this.columns, 1) : undefined };
  }

  expected({ x, residual }: ProductRows): Expected {
    const { inputs } = this.shape;
    const rowCount = x.length / inputs;
    const values = new Float64Array(rowCount * this.columns);
    const bounds = new Float64Array(values.length);
    for (let row = 0; row < rowCount; row++) {
      const activations = this.#roundedRow(x.slice(row * inputs, (row + 1) * inputs));
      const sums = this.#matrices.map(matrix => multiply(matrix, activations));
      for (let column = 0; column < this.columns; column++) {
        const at = row * this.columns + column;
        const { value, bound } = this.#finish(sums, column);
        const added = residual?.[at] ?? 0;
        values[at] = value + added;
        bounds[at] = bound + 1.2e-7 * (Math.abs(value) + Math.abs(added));
      }
    }
    return { values, bounds };
  }

  /** What the product multiplies: norm, and codes of 8 bits for each block unless the weights are float32. */
  #roundedRow(x: Float32Array): Float64Array {
    const row = this.#norm === undefined ? x : normalise(x, this.#norm, EPSILON);
    const rounded = Float64Array.from(row);
    if (this.#matrices[0]!.format === 'f32') return rounded;
    for (let from = 0; from < row.length; from += BLOCK) {
      const block = row.slice(from, from + BLOCK);
      const { codes, scale } = toCodes(block);
      const rest = toCodes(block.map((value, i) => fusedMultiplyAdd(-scale, codes[i]!, value)));
      for (const [i, code] of codes.entries()) {
        rounded[from + i] = code * scale;
        if (this.shape.activationBits === 16) rounded[from + i]! += rest.codes[i]! * rest.scale;
      }
    }
    return rounded;
  }

  #finish(parts: readonly Sums[], column: number): { readonly value: number; readonly bound: number } {
    const { activation, isGated } = this.shape;
    if (!isGated) {
      const sums = joinColumns(parts);
      const before = sums.values[column]! + (this.#bias?.[column] ?? 0);
      return activate(activation, before, sums.bounds[column]!);
    }
    const gateBefore = parts[0]!.values[column]! + (this.#bias?.[column] ?? 0);
    const gate = activate(activation, gateBefore, parts[0]!.bounds[column]!);
    const up = parts[1]!.values[column]! + (this.#bias?.[this.columns + column] ?? 0);
    const bound = gate.bound * Math.abs(up) + Math.abs(gate.value) * parts[1]!.bounds[column]!;
    return { value: gate.value * up, bound: bound + 1e-6 * Math.abs(gate.value * up) };
  }
}

export interface ProductConstants {
  readonly tiles: readonly Uint8Array[];
  readonly norm?: Float32Array | undefined;
  readonly bias?: Float32Array | undefined;
}

export function productGraph(shape: ProductShape, { tiles, norm, bias }: ProductConstants): OperatorGraph {
  const { inputs, parts, isGated, activation, hasResidual, activationBits } = shape;
  const constant = (name: string, values: Float32Array | undefined): OperatorInput | null =>
    values === undefined ? null : floatConstant(name, [values.length], values);
  const weights = [0, 1, 2].map((index): OperatorInput | null => {
    const content = tiles[index];
    return content === undefined
      ? null
      : { name: `w${index}`, type: 'uint8', shape: [content.length], content };
  });
  return {
    opType: 'Product',
    inputs: [
      { name: 'x', type: 'float32', shape: [0, 0] },
      ...weights,
      constant('norm', norm),
      constant('bias', bias),
      hasResidual ? { name: 'residual', type: 'float32', shape: [0, 0] } : null,
    ],
    outputs: [{ name: 'y', type: 'float32', rank: 2 }],
    attributes: {
      inputs: int(inputs),
      outputs: ints(parts.map(({ outputs }) => (isGated ? 2 : 1) * outputs)),
      formats: ints(parts.map(({ format }) => WEIGHT_FORMATS[format].number)),
      activation: int(ACTIVATIONS[activation]),
      gated: int(isGated ? 1 : 0),
      epsilon: float(EPSILON),
      activation_bits: int(activationBits),
    },
  };
}

/** Runs a product on rows, and on any of them alone. */
export class ProductSession implements Disposable {
  readonly #session: OperatorSession;
  readonly #shape: ProductShape;
  readonly #columns: number;

  private constructor(session: OperatorSession, { shape, columns }: ProductWeights) {
    this.#session = session;
    this.#shape = shape;
    this.#columns = columns;
  }

  static async create(weights: ProductWeights, options: OperatorOptions): Promise<ProductSession> {
    return new ProductSession(await OperatorSession.create(weights.graph, options), weights);
  }

  /** Rows `[from, end)`, all by default. */
  async run(rows: ProductRows, from = 0, end = rows.x.length / this.#shape.inputs): Promise<Float32Array> {
    const { inputs } = this.#shape;
    const slice = (data: Float32Array, width: number) =>
      ({ type: 'float32', shape: [end - from, width], data: data.slice(from * width, end * width) }) as const;
    const y = slice(new Float32Array(end * this.#columns), this.#columns);
    const residual = rows.residual === undefined ? {} : { residual: slice(rows.residual, this.#columns) };
    await this.#session.run({ x: slice(rows.x, inputs), ...residual }, { y });
    return y.data;
  }

  [Symbol.dispose](): void {
    this.#session[Symbol.dispose]();
  }
}

interface Sums {
  readonly values: Float64Array;
  readonly bounds: Float64Array;
}

/** Float32 sums may be off by their roundings, which are relative to the largest numbers that the terms can have. */
const SUM_TOLERANCE = 1e-6;

function multiply({ outputs, inputs, values, reach }: TestMatrix, x: Float64Array): Sums {
  const magnitude = x.reduce((sum, value) => sum + Math.abs(value), 0);
  const sums = new Float64Array(outputs);
  for (let output = 0; output < outputs; output++)
    for (let input = 0; input < inputs; input++)
      sums[output]! += x[input]! * values[output * inputs + input]!;
  return { values: sums, bounds: sums.map(sum => SUM_TOLERANCE * (magnitude * reach + Math.abs(sum))) };
}

function joinColumns(parts: readonly Sums[]): Sums {
  if (parts.length === 1) return parts[0]!;
  return {
    values: Float64Array.from(parts.flatMap(({ values }) => [...values])),
    bounds: Float64Array.from(parts.flatMap(({ bounds }) => [...bounds])),
  };
}

/** The slope of both activations is below 1.13. */
function activate(activation: ProductShape['activation'], x: number, bound: number) {
  const widened = 1.13 * bound + 1e-6 * Math.abs(x);
  if (activation === 'none') return { value: x, bound: bound + 1.2e-7 * Math.abs(x) };
  if (activation === 'silu') return { value: x / (1 + Math.exp(-x)), bound: widened };
  const inner = Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);
  return { value: 0.5 * x * (1 + Math.tanh(inner)), bound: widened };
}
