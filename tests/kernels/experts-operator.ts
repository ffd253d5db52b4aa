// An `Experts` operator with random weights: its graph, its calls, and what they give in float64.

import { WEIGHT_FORMATS, type WeightFormat } from '@ortler/kernels';
import { float, int, ints } from '@ortler/onnx';
import { Random } from '../support/random.ts';
import { normalise } from './float32.ts';
import {
  floatConstant,
  type OperatorGraph,
  type OperatorInput,
  type OperatorOptions,
  OperatorSession,
} from './operator-session.ts';
import { interleaveTiles, randomMatrix, type TestMatrix } from './random-matrix.ts';

export interface ExpertsShape {
  readonly inputs: number;
  readonly inner: number;
  readonly count: number;
  readonly chosen: number;
  readonly formats: readonly [gateUp: WeightFormat, down: WeightFormat];
  readonly activationBits: 8 | 16;
  readonly scoring: 'softmax' | 'sigmoid';
  readonly isNormalised: boolean;
  readonly activation: keyof typeof ACTIVATIONS;
  readonly isGated: boolean;
  readonly hasSelectionBias: boolean;
  /** Experts are chosen of some groups only. */
  readonly groups?: { readonly count: number; readonly chosen: number; readonly keyCount: 1 | 2 };
}

const ACTIVATIONS = { silu: 1, clamped: 3, relu2: 4 } as const;

export const PLAIN_EXPERTS: ExpertsShape = {
  inputs: 100,
  inner: 40,
  count: 9,
  chosen: 3,
  formats: ['q4', 'q6'],
  activationBits: 8,
  scoring: 'softmax',
  isNormalised: true,
  activation: 'silu',
  isGated: true,
  hasSelectionBias: false,
};

const EPSILON = 1e-5;
const LIMIT = 0.75;
const SCALE = 1.5;

export interface ExpertRows {
  readonly x: Float32Array;
  readonly logits: Float32Array;
  readonly residual: Float32Array;
}

interface Expert {
  readonly gate: TestMatrix;
  readonly up: TestMatrix;
  readonly down: TestMatrix;
}

export class ExpertsWeights {
  readonly shape: ExpertsShape;
  readonly graph: OperatorGraph;
  readonly #experts: readonly Expert[];
  readonly #norm: Float32Array;
  readonly #upBias: Float32Array;
  readonly #downBias: Float32Array;
  readonly #selection: Float32Array | undefined;
  readonly #random = new Random(3);

  constructor(shape: ExpertsShape) {
    const { inputs, inner, count, formats, isGated, hasSelectionBias } = shape;
    const random = this.#random;
    this.shape = shape;
    this.#experts = Array.from({ length: count }, () => ({
      gate: randomMatrix({ format: formats[0], outputs: inner, inputs }, random),
      up: randomMatrix({ format: formats[0], outputs: inner, inputs }, random),
      down: randomMatrix({ format: formats[1], outputs: inputs, inputs: inner }, random),
    }));
    this.#norm = random.floats(inputs, 1);
    this.#upBias = random.floats((isGated ? 2 : 1) * inner * count, 1);
    this.#downBias = random.floats(inputs * count, 1);
    this.#selection = hasSelectionBias ? random.floats(count, 1) : undefined;
    this.graph = this.#makeGraph();
  }

  randomRows(count: number): ExpertRows {
    const { inputs, count: experts } = this.shape;
    const random = this.#random;
    return {
      x: random.floats(count * inputs, 2),
      logits: random.floats(count * experts, 3),
      residual: random.floats(count * inputs, 1),
    };
  }

  /** What each row gives, without a rounding. */
  expected({ x, logits, residual }: ExpertRows): Float64Array {
    const { inputs, inner, count, isGated } = this.shape;
    const result = Float64Array.from(residual);
    for (let row = 0; row * inputs < x.length; row++) {
      const normed = normalise(x.slice(row * inputs, (row + 1) * inputs), this.#norm, EPSILON);
      for (const [index, weight] of this.#route(logits.subarray(row * count, (row + 1) * count))) {
        const { gate, up, down } = this.#experts[index]!;
        const bias = this.#upBias.subarray((this.#upBias.length / count) * index);
        const [gates, ups] = [gate, up].map(matrix => multiply(matrix, normed));
        const given = isGated
          ? gates!.map((gate, i) => this.#activate(gate + bias[i]!, ups![i]! + bias[inner + i]!))
          : ups!.map((up, i) => this.#activate(up + bias[i]!, 1));
        for (const [column, value] of multiply(down, given).entries())
          result[row * inputs + column]! += weight * (value + this.#downBias[inputs * index + column]!);
      }
    }
    return result;
  }

  #activate(gate: number, up: number): number {
    if (this.shape.activation === 'silu') return (gate / (1 + Math.exp(-gate))) * up;
    if (this.shape.activation === 'relu2') return Math.max(0, gate) ** 2 * up;
    const g = Math.min(gate, LIMIT);
    return (g / (1 + Math.exp(-1.702 * g))) * (Math.max(-LIMIT, Math.min(up, LIMIT)) + 1);
  }

  #route(logits: Float32Array): Map<number, number> {
    const { chosen, scoring, isNormalised, groups } = this.shape;
    const all = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const scores = Array.from(logits, logit =>
      scoring === 'softmax' ? Math.exp(logit) / all : 1 / (1 + Math.exp(-logit)),
    );
    const biased = scores.map((score, i) => score + (this.#selection?.[i] ?? 0));
    const open = groups === undefined ? undefined : openExperts(biased, groups);
    const keys = biased.map((key, i) => (open === undefined || open.has(i) ? key : -Infinity));
    const best = keys
      .map((_, i) => i)
      .sort((a, b) => keys[b]! - keys[a]!)
      .slice(0, chosen);
    const sum = isNormalised ? best.reduce((total, i) => total + scores[i]!, 0) : 1;
    return new Map(best.map(i => [i, (scores[i]! / sum) * SCALE]));
  }

  #makeGraph(): OperatorGraph {
    const { inputs, inner, count, chosen, formats, scoring, isNormalised, isGated, activation, groups } =
      this.shape;
    const constant = (name: string, values: Float32Array) => floatConstant(name, [values.length], values);
    const weights = (name: string, parts: readonly Uint8Array[]): OperatorInput => {
      const content = Buffer.concat(parts);
      return { name, type: 'uint8', shape: [content.length], content };
    };
    return {
      opType: 'Experts',
      inputs: [
        { name: 'x', type: 'float32', shape: [0, 0] },
        { name: 'logits', type: 'float32', shape: [0, 0] },
        weights(
          'gate_up',
          this.#experts.map(({ gate, up }) => (isGated ? interleaveTiles(gate, up) : up.tiles)),
        ),
        weights(
          'down',
          this.#experts.map(({ down }) => down.tiles),
        ),
        constant('norm', this.#norm),
        constant('gate_up_bias', this.#upBias),
        constant('down_bias', this.#downBias),
        this.#selection === undefined ? null : constant('selection', this.#selection),
        { name: 'residual', type: 'float32', shape: [0, 0] },
      ],
      outputs: [{ name: 'y', type: 'float32', rank: 2 }],
      attributes: {
        inputs: int(inputs),
        inner: int(inner),
        experts: int(count),
        chosen: int(chosen),
        formats: ints(formats.map(format => WEIGHT_FORMATS[format].number)),
        activation_bits: ints([this.shape.activationBits, this.shape.activationBits]),
        activation: int(ACTIVATIONS[activation]),
        gated: int(isGated ? 1 : 0),
        limit: float(LIMIT),
        scoring: int(scoring === 'softmax' ? 0 : 1),
        normalised: int(isNormalised ? 1 : 0),
        scale: float(SCALE),
        ...(groups === undefined
          ? {}
          : {
              groups: int(groups.count),
              chosen_groups: int(groups.chosen),
              group_keys: int(groups.keyCount),
            }),
        epsilon: float(EPSILON),
      },
    };
  }
}

/** Those of the groups with the largest sums of their largest keys. */
function openExperts(
  keys: readonly number[],
  { count, chosen, keyCount }: NonNullable<ExpertsShape['groups']>,
): ReadonlySet<number> {
  const size = keys.length / count;
  const groups = Array.from({ length: count }, (_, group) => {
    const own = keys.slice(group * size, (group + 1) * size).sort((a, b) => b - a);
    return { group, sum: own.slice(0, keyCount).reduce((sum, key) => sum + key, 0) };
  });
  const best = groups.sort((a, b) => b.sum - a.sum).slice(0, chosen);
  return new Set(best.flatMap(({ group }) => Array.from({ length: size }, (_, i) => group * size + i)));
}

function multiply({ outputs, inputs, values }: TestMatrix, x: ArrayLike<number>): Float64Array {
  const sums = new Float64Array(outputs);
  for (let output = 0; output < outputs; output++)
    for (let input = 0; input < inputs; input++)
      sums[output]! += x[input]! * values[output * inputs + input]!;
  return sums;
}

export class ExpertsSession implements Disposable {
  readonly #session: OperatorSession;
  readonly #shape: ExpertsShape;

  private constructor(session: OperatorSession, shape: ExpertsShape) {
    this.#session = session;
    this.#shape = shape;
  }

  static async create({ graph, shape }: ExpertsWeights, options: OperatorOptions): Promise<ExpertsSession> {
    return new ExpertsSession(await OperatorSession.create(graph, options), shape);
  }

  /** Rows `[from, end)`, all by default. */
  async run(rows: ExpertRows, from = 0, end = rows.x.length / this.#shape.inputs): Promise<Float32Array> {
    const { inputs, count } = this.#shape;
    const slice = (data: Float32Array, width: number) =>
      ({ type: 'float32', shape: [end - from, width], data: data.slice(from * width, end * width) }) as const;
    const y = slice(new Float32Array(end * inputs), inputs);
    const { x, logits, residual } = rows;
    await this.#session.run(
      { x: slice(x, inputs), logits: slice(logits, count), residual: slice(residual, inputs) },
      { y },
    );
    return y.data;
  }

  [Symbol.dispose](): void {
    this.#session[Symbol.dispose]();
  }
}
