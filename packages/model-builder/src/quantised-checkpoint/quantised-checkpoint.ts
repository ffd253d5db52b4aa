// The weights of a Hugging Face folder whose linear layers are quantised, under the names that they have in floats.

import { ModelBuildError } from '../errors.ts';
import { Checkpoint, type WeightSource } from '../hugging-face/checkpoint.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { openGptq } from './gptq.ts';
import { type IntegerMatrix, integerTensor } from './integer-matrix.ts';
import type { QuantisationConfig } from './quantisation-config.ts';
import { RecentMatrices } from './recent-matrices.ts';
import { elementCount, readScales, StoredModule } from './stored-module.ts';

/** The tensor that each quantised layer of a method has, behind the name of the layer. */
const MARKER = '.qweight';

/** Tensors of a quantised layer in files. */
const PARTS = ['qweight', 'qzeros', 'scales', 'g_idx'];

const WEIGHT = '.weight';

/** Closing it closes the files. */
export class QuantisedCheckpoint implements WeightSource {
  readonly #base: Checkpoint;
  /** By the name of the layer. */
  readonly #layers: ReadonlyMap<string, IntegerMatrix>;
  /** Biases of zeros, which some programs write for every quantised layer. */
  readonly #zeroBiases: ReadonlySet<string>;
  readonly #used = new Map<string, number>();

  private constructor(
    base: Checkpoint,
    layers: ReadonlyMap<string, IntegerMatrix>,
    zeroBiases: ReadonlySet<string>,
  ) {
    this.#base = base;
    this.#layers = layers;
    this.#zeroBiases = zeroBiases;
  }

  /**
   * Opens the files, and checks the scales, zero points and groups of every quantised layer.
   *
   * Throws: as `Checkpoint.open`; `tensor_missing`, `tensor_mismatch`, `weights_corrupt`, `unsupported` for a quantised layer.
   */
  static async open(sourceDir: string, config: QuantisationConfig): Promise<QuantisedCheckpoint> {
    const base = await Checkpoint.open(sourceDir);
    try {
      const layers = new Map<string, IntegerMatrix>();
      const recent = new RecentMatrices();
      const zeroBiases = new Set<string>();
      for (const name of base.names) {
        if (!name.endsWith(MARKER)) continue;
        const module = new StoredModule(base, name.slice(0, -MARKER.length));
        refuseFloats(module);
        layers.set(module.name, await openGptq(module, config, recent));
        if (await hasZeroBias(module)) zeroBiases.add(`${module.name}.bias`);
      }
      return new QuantisedCheckpoint(base, layers, zeroBiases);
    } catch (error) {
      await base.close();
      throw error;
    }
  }

  has(name: string): boolean {
    return this.#base.has(name) || this.#layer(name) !== undefined;
  }

  tensor(name: string, shape: readonly number[]): CheckpointTensor {
    const layer = this.#layer(name);
    if (layer === undefined) return roundable(this.#base, this.#base.tensor(name, shape));
    if (shape.length !== 2 || shape.some((size, i) => size !== layer.shape[i])) {
      const message = `tensor ${JSON.stringify(name)}, quantised: has shape [${layer.shape}]; config.json asks for [${shape}]`;
      throw new ModelBuildError('tensor_mismatch', message, { tensor: name });
    }
    this.#used.set(name, elementCount(layer));
    return integerTensor(name, layer);
  }

  get usedElementCount(): number {
    return this.#used.values().reduce((sum, count) => sum + count, this.#base.usedElementCount);
  }

  checkAllUsed(hasNoEffect: (name: string) => boolean): void {
    this.#base.checkAllUsed(
      name => hasNoEffect(name) || this.#zeroBiases.has(name) || this.#isPartOfUsed(name),
    );
  }

  close(): Promise<void> {
    return this.#base.close();
  }

  #layer(name: string): IntegerMatrix | undefined {
    return name.endsWith(WEIGHT) ? this.#layers.get(name.slice(0, -WEIGHT.length)) : undefined;
  }

  #isPartOfUsed(name: string): boolean {
    const dot = name.lastIndexOf('.');
    return PARTS.includes(name.slice(dot + 1)) && this.#used.has(`${name.slice(0, dot)}${WEIGHT}`);
  }
}

/**
 * Matrices that are floats beside quantised ones, tables above all: builds that keep the values of the file round them to 8 bits,
 * because in float32 a table alone would be larger than all quantised layers of a small model.
 */
function roundable(base: Checkpoint, tensor: CheckpointTensor): CheckpointTensor {
  if (tensor.shape.length !== 2) return tensor;
  return { ...tensor, quantised: { type: base.entry(tensor.name)!.entry.type, codes: undefined } };
}

/** Throws: `weights_corrupt` for a layer that is there twice. */
function refuseFloats(module: StoredModule): void {
  const floats = module.find('weight');
  if (floats === undefined) return;
  throw floats.fault(
    'weights_corrupt',
    'is beside a quantised layer of the same name, so one of them is wrong',
  );
}

async function hasZeroBias(module: StoredModule): Promise<boolean> {
  const bias = module.find('bias');
  if (bias === undefined) return false;
  return (await readScales(bias, 0, elementCount(bias))).every(value => value === 0);
}
