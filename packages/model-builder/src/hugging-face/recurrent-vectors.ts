// What a recurrent layer has besides matrices: its convolution, and vectors of its heads.

import { assertInvariant } from '../errors.ts';
import type { WeightSource } from './checkpoint.ts';
import type { CheckpointTensor } from './checkpoint-tensor.ts';
import { convolvedSize, type Mamba2, type RecurrentConfig, type RecurrentModules } from './decoder-config.ts';
import { scaledRows } from './scaled-rows.ts';

export interface RecurrentVectorsOptions {
  /** Path of the layer in the checkpoint. */
  readonly layer: string;
  readonly config: RecurrentConfig;
  readonly modules: RecurrentModules;
  readonly hiddenSize: number;
}

/** All methods throw as `WeightSource.tensor`. */
export class RecurrentVectors {
  readonly #source: WeightSource;
  readonly #options: RecurrentVectorsOptions;

  constructor(source: WeightSource, options: RecurrentVectorsOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** Weights and, if any, bias of the convolution. Shape: `[channels, 1, kernel]`, `[channels]`. */
  convolution(): { readonly weight: CheckpointTensor; readonly bias: CheckpointTensor | undefined } {
    const { config, modules, hiddenSize } = this.#options;
    const channels = convolvedSize(config, hiddenSize);
    const weight = this.#tensor(`${modules.convolution}.weight`, [channels, 1, config.kernel]);
    const hasBias =
      config.kind === 'mamba-2'
        ? config.hasConvolutionBias
        : config.kind === 'short-convolution' && config.hasBias;
    return {
      weight: config.kind === 'mamba-2' ? scaledRows(weight, inputScale(config)) : weight,
      bias: hasBias ? this.#tensor(`${modules.convolution}.bias`, [channels]) : undefined,
    };
  }

  /** Of a gated delta network. Shape: `[valueHeads]` and, of the norm of each head, `[valueSize]`. */
  delta(): Readonly<Record<'decayLog' | 'decayBias' | 'norm', CheckpointTensor>> {
    const { config, modules } = this.#options;
    assertInvariant(config.kind === 'gated-delta-net', 'a gated delta network');
    return {
      ...this.#decay(config.valueHeadCount),
      norm: this.#tensor(`${modules.norm}.weight`, [config.valueSize]),
    };
  }

  /** Of Mamba-2. Shape: `[heads]` and, of the norm if there is one, `[heads * headSize]`. */
  mamba(): Readonly<
    Record<'decayLog' | 'decayBias' | 'skip', CheckpointTensor> & { norm: CheckpointTensor | undefined }
  > {
    const { config, modules } = this.#options;
    assertInvariant(config.kind === 'mamba-2', 'Mamba-2');
    return {
      ...this.#decay(config.headCount),
      skip: this.#tensor(modules.skip, [config.headCount]),
      norm: config.norm && this.#tensor(`${modules.norm}.weight`, [config.headCount * config.headSize]),
    };
  }

  #decay(headCount: number): Record<'decayLog' | 'decayBias', CheckpointTensor> {
    const { decayLog, decayBias } = this.#options.modules;
    return {
      decayLog: this.#tensor(decayLog, [headCount]),
      decayBias: this.#tensor(decayBias, [headCount]),
    };
  }

  #tensor(name: string, shape: readonly number[]): CheckpointTensor {
    return this.#source.tensor(`${this.#options.layer}.${name}`, shape);
  }
}

/** The factor of each channel of the convolution: values, keys, queries. */
function inputScale({
  headCount,
  headSize,
  groupCount,
  stateSize,
  inputScales,
}: Mamba2): (row: number) => number {
  const values = headCount * headSize;
  const { values: ofValues, keys, queries } = inputScales;
  return row => (row < values ? ofValues : row < values + groupCount * stateSize ? keys : queries);
}
