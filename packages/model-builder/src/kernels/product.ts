// The operators of `packages/kernels` as nodes of a graph.

import { KERNELS_DOMAIN, WEIGHT_FORMATS } from '@ortler/kernels';
import { float, type GraphRecorder, int, ints } from '@ortler/onnx';
import type { TiledMatrix } from '../weights/declare-tiles.ts';

/** Numbers of `Activation` in `packages/kernels/c/product.h`. */
const ACTIVATIONS = { none: 0, silu: 1, 'gelu-tanh': 2 } as const;

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
  /** Of the product. Default: none. */
  readonly activation?: keyof typeof ACTIVATIONS;
  /** The matrix has tiles of gates and ups in turns: the product is `activation(gate) * up`. */
  readonly isGated?: boolean;
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
