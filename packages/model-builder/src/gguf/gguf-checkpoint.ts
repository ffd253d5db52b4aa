// The weights of a GGUF file, or of all its shards, looked up by the names that tensors have in Hugging Face checkpoints.

import type { GgufModel } from '@ortler/gguf';
import { ModelBuildError } from '../errors.ts';
import type { WeightSource } from '../hugging-face/checkpoint.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import type { DecoderConfig } from '../hugging-face/decoder-config.ts';
import { unreadModules } from '../hugging-face/unread-modules.ts';
import { GGUF_ARCHITECTURES } from './architectures.ts';
import { ConfigFields } from './config-fields.ts';
import type { GgufArchitecture } from './gguf-architecture.ts';
import { openGgufTensor } from './gguf-tensor.ts';
import { logarithms } from './logarithms.ts';
import { DECAYS, ggufNameOf, LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS } from './tensor-names.ts';

const OF_CONFIG: readonly string[] = [ROPE_FACTORS, LONG_FACTORS, SHORT_FACTORS];
const QUERIES_AND_KEYS = /\.attn_[qk]\.(weight|bias)$/;

/** Closing it closes the model. */
export class GgufCheckpoint implements WeightSource {
  readonly #model: GgufModel;
  readonly #architecture: GgufArchitecture;
  /**
   * Size of the heads whose rows llama.cpp has in another order; undefined where they are as in the
   * checkpoint.
   */
  readonly #permutedHeadSize: number | undefined;
  /** Starts of the names of layers that predict further tokens, and names of tensors that no layer reads. */
  readonly #leftOut: readonly string[];
  /** Element counts by name in the file. */
  readonly #used = new Map<string, number>();

  /** Throws: `unsupported` for another architecture. */
  constructor(
    model: GgufModel,
    config: Pick<DecoderConfig, 'headSize' | 'layerCount' | 'predictionLayerCount' | 'layers' | 'modules'>,
  ) {
    const { headSize, layerCount, predictionLayerCount } = config;
    this.#model = model;
    const name = new ConfigFields(model).architecture([...GGUF_ARCHITECTURES.keys()]);
    this.#architecture = GGUF_ARCHITECTURES.get(name)!;
    const { modules } = this.#architecture;
    this.#leftOut = [
      ...Array.from({ length: predictionLayerCount }, (_, i) => `blk.${layerCount + i}.`),
      ...unreadModules(config).flatMap(module => ggufNameOf(`model.${module}.weight`, modules) ?? []),
    ];
    this.#permutedHeadSize = this.#architecture.permutesHeads ? headSize : undefined;
  }

  has(name: string): boolean {
    const ggufName = ggufNameOf(name, this.#architecture.modules);
    return ggufName !== undefined && this.#model.has(ggufName);
  }

  tensor(name: string, shape: readonly number[]): CheckpointTensor {
    const model = this.#model;
    const ggufName = ggufNameOf(name, this.#architecture.modules);
    const found = ggufName === undefined ? undefined : model.tensor(ggufName);
    if (ggufName === undefined || found === undefined) {
      const message = `${model.path}: no file of the model holds tensor ${JSON.stringify(ggufName ?? name)}, expected with dimensions [${shape.toReversed()}]`;
      throw new ModelBuildError('tensor_missing', message, { file: model.path, tensor: ggufName ?? name });
    }
    // In GGUF the first dimension varies fastest. Converters leave out some dimensions of one.
    const expected = shape.toReversed();
    // Norms of Mamba-2 have a row for each group.
    const isFlat = shape.length === 1 && ggufName.endsWith('.ssm_norm.weight');
    const dimensions = isFlat
      ? [found.dimensions.reduce((product, size) => product * size, 1)]
      : found.dimensions;
    if (!isSameShape(dimensions, expected)) {
      const file = model.fileOf(ggufName);
      const message = `${file}, tensor ${JSON.stringify(ggufName)}: has dimensions [${found.dimensions}]; the metadata ask for [${expected}]`;
      throw new ModelBuildError('tensor_mismatch', message, { file, tensor: ggufName });
    }
    const permutedHeadSize = QUERIES_AND_KEYS.test(ggufName) ? this.#permutedHeadSize : undefined;
    const tensor = openGgufTensor({ model, name, ggufName, shape, permutedHeadSize });
    this.#used.set(
      ggufName,
      shape.reduce((product, size) => product * size, 1),
    );
    return ggufName.endsWith(`.${DECAYS}`) ? logarithms(tensor) : tensor;
  }

  get usedElementCount(): number {
    return this.#used.values().reduce((sum, count) => sum + count, 0);
  }

  checkAllUsed(): void {
    for (const name of this.#model.tensorNames.toSorted()) {
      if (this.#used.has(name) || OF_CONFIG.includes(name)) continue;
      if (this.#leftOut.some(start => name.startsWith(start))) continue;
      const file = this.#model.fileOf(name);
      const message = `${file}, tensor ${JSON.stringify(name)}: the model that the metadata describe has no such tensor`;
      throw new ModelBuildError('unsupported', message, { file, tensor: name });
    }
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}

function isSameShape(first: readonly number[], second: readonly number[]): boolean {
  const [a, b] = [first, second].map(shape => shape.filter(size => size !== 1)) as [number[], number[]];
  return a.length === b.length && a.every((size, i) => size === b[i]);
}
