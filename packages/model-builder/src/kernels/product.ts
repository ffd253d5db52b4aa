// The operators of `packages/kernels` as nodes of a graph.

import { KERNELS_DOMAIN, WEIGHT_FORMATS } from '@ortler/kernels';
import { float, type GraphRecorder, int, ints } from '@ortler/onnx';
import type { ExpertsConfig } from '../hugging-face/experts-config.ts';
import type { TiledMatrix } from '../weights/declare-tiles.ts';

/** Numbers of `Activation` in `packages/kernels/c/product.h`. */
const ACTIVATIONS = { none: 0, silu: 1, 'gelu-tanh': 2, clamped: 3, relu2: 4 } as const;
/** Numbers of `Scoring` in `packages/kernels/c/experts.h`. */
const SCORINGS = { softmax: 0, sigmoid: 1 } as const;

export interface ProductOptions {
  /** Name of the value. Shape: `[..., inputs]`. */
  readonly input: string;
  /** Their results are the columns of the product, one after the other. */
  readonly matrices: readonly TiledMatrix[];
  /** Weight of an RMS norm of the input. */
  readonly norm?: undefined | { readonly weight: string; readonly epsilon: number };
  /** Name of the bias, of all columns. */
  readonly bias?: string | undefined;
  /** Name of a value that is added to the product. */
  readonly residual?: string;
  /** Activation of the product. Default: none. */
  readonly activation?: Exclude<keyof typeof ACTIVATIONS, 'clamped'>;
  /** The matrix has tiles of gates and ups in turns: the product is `activation(gate) * up`. */
  readonly isGated?: boolean;
  /** The matrix is a diagonal of blocks: group g reads its inputs at `start` of step g of the input. Whole tiles of outputs each. */
  readonly groups?: { readonly count: number; readonly step: number; readonly start: number };
  /** Bits of activations that are multiplied with quantised weights. Default: 8. */
  readonly activationBits?: 8 | 16;
  /** Name of the result; the default is named after the node. */
  readonly output?: string;
}

/** Returns the name of the product, `[..., columns]`. */
export function product(graph: GraphRecorder, path: string, options: ProductOptions): string {
  const {
    input,
    matrices,
    norm,
    bias = '',
    residual = '',
    activation = 'none',
    isGated = false,
    activationBits = 8,
    groups,
    output,
  } = options;
  const weights = [0, 1, 2].map(index => matrices[index]?.name ?? '');
  const inputs = [input, ...weights, norm?.weight ?? '', bias, residual];
  while (inputs.at(-1) === '') inputs.pop();
  return graph.op(`${path}/Product`, 'Product', inputs, {
    domain: KERNELS_DOMAIN,
    attributes: {
      inputs: int(matrices[0]!.inputs),
      outputs: ints(matrices.map(({ outputs }) => outputs)),
      formats: ints(matrices.map(({ format }) => WEIGHT_FORMATS[format].number)),
      ...(norm === undefined ? {} : { epsilon: float(norm.epsilon) }),
      ...(activationBits === 8 ? {} : { activation_bits: int(activationBits) }),
      ...(isGated ? { gated: int(1) } : {}),
      ...(groups === undefined
        ? {}
        : {
            groups: int(groups.count),
            group_step: int(groups.step),
            ...(groups.start === 0 ? {} : { group_start: int(groups.start) }),
          }),
      ...(activation === 'none' ? {} : { activation: int(ACTIVATIONS[activation]) }),
    },
    ...(output === undefined ? {} : { outputs: [output] }),
  });
}

/** Rows of the matrix, by number. Shape: `[...]` to `[..., inputs]`. */
export function embeddingLookup(graph: GraphRecorder, path: string, ids: string, table: TiledMatrix): string {
  const { name, format, inputs, outputs } = table;
  return graph.op(`${path}/Embedding`, 'Embedding', [ids, name], {
    domain: KERNELS_DOMAIN,
    attributes: { inputs: int(inputs), outputs: int(outputs), format: int(WEIGHT_FORMATS[format].number) },
  });
}

export interface ExpertsOptions {
  /** Name of the value. Shape: `[..., inputs]`. */
  readonly input: string;
  /** Shape: `[..., experts]`. */
  readonly logits: string;
  /** A matrix of each expert: tiles of gates and ups in turns, or of ups alone. */
  readonly gateUp: TiledMatrix;
  readonly isGated: boolean;
  readonly down: TiledMatrix;
  readonly norm: ProductOptions['norm'];
  /** Names of biases, of the outputs of all experts. */
  readonly gateUpBias: string | undefined;
  readonly downBias: string | undefined;
  readonly selectionBias: string | undefined;
  /** Name of a value that is added. Shape: that of the input. */
  readonly residual: string | undefined;
  readonly activation: keyof typeof ACTIVATIONS;
  readonly activationBits: readonly [gateUp: 8 | 16, down: 8 | 16];
  readonly config: ExpertsConfig;
}

/** Returns the name of the weighted sums, `[..., inputs]`. */
export function mixture(graph: GraphRecorder, path: string, options: ExpertsOptions): string {
  const { input, logits, gateUp, isGated, down, norm, activation, activationBits, config } = options;
  const { gateUpBias = '', downBias = '', selectionBias = '', residual = '' } = options;
  const { count, chosen, intermediateSize, scoring, isNormalised, scale, gateLimit, groups } = config;
  const inputs = [
    ...[input, logits, gateUp.name, down.name, norm?.weight ?? ''],
    ...[gateUpBias, downBias, selectionBias, residual],
  ];
  while (inputs.at(-1) === '') inputs.pop();
  return graph.op(`${path}/Experts`, 'Experts', inputs, {
    domain: KERNELS_DOMAIN,
    attributes: {
      inputs: int(gateUp.inputs),
      inner: int(intermediateSize),
      experts: int(count),
      chosen: int(chosen),
      formats: ints([gateUp, down].map(({ format }) => WEIGHT_FORMATS[format].number)),
      activation_bits: ints(activationBits),
      ...(isGated ? {} : { gated: int(0) }),
      activation: int(ACTIVATIONS[activation]),
      scoring: int(SCORINGS[scoring]),
      normalised: int(isNormalised ? 1 : 0),
      ...(gateLimit === undefined ? {} : { limit: float(gateLimit) }),
      ...(scale === 1 ? {} : { scale: float(scale) }),
      ...(groups === undefined
        ? {}
        : {
            groups: int(groups.count),
            chosen_groups: int(groups.chosen),
            group_keys: int(groups.keyCount),
          }),
      ...(norm === undefined ? {} : { epsilon: float(norm.epsilon) }),
    },
  });
}
