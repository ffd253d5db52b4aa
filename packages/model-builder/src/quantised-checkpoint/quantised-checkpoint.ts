// The weights of a Hugging Face folder whose linear layers are quantised, under the names that they have in floats.

import { ModelBuildError } from '../errors.ts';
import { Checkpoint, type WeightSource } from '../hugging-face/checkpoint.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { RecentMatrices } from '../hugging-face/recent-matrices.ts';
import { findLayers, openLayer } from './open-layer.ts';
import type { LayerQuantisation } from './quantisation-config.ts';
import { roundable } from './roundable.ts';
import { elementCount, readScales, type StoredModule } from './stored-module.ts';

/** Names of tensors that a quantised layer may have, all of which its reader has seen. */
export const LAYER_PARTS: readonly string[] = [
  ...['qweight', 'qzeros', 'scales', 'g_idx'],
  ...['weight_packed', 'weight_scale', 'weight_zero_point', 'weight_g_idx', 'weight_shape', 'weight'],
  'weight_scale_inv',
];

/**
 * Scales that activations and a KV cache in 8 bits would have on a GPU. They change no weight, and graphs of this builder round
 * activations with scales of their own.
 */
const ACTIVATION_SCALES =
  /\.(input|output|activation|k|v|q|prob)_(scale|zero_point|scale_inv)$|\.(input|activation)_scale_ub$/;

/** Closing it closes the files. */
export class QuantisedCheckpoint implements WeightSource {
  readonly #base: Checkpoint;
  /** By the name of the weight in floats. */
  readonly #layers: ReadonlyMap<string, CheckpointTensor>;
  /** Biases of zeros, which some programs write for every quantised layer. */
  readonly #zeroBiases: ReadonlySet<string>;
  readonly #used = new Map<string, number>();

  private constructor(
    base: Checkpoint,
    layers: ReadonlyMap<string, CheckpointTensor>,
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
  static async open(sourceDir: string, config: LayerQuantisation): Promise<QuantisedCheckpoint> {
    const base = await Checkpoint.open(sourceDir);
    try {
      const layers = new Map<string, CheckpointTensor>();
      const zeroBiases = new Set<string>();
      const recent = new RecentMatrices();
      for (const module of findLayers(base, config)) {
        refuseFloats(module);
        const layer = await openLayer(module, config, recent);
        layers.set(layer.name, layer);
        if (await hasZeroBias(module)) zeroBiases.add(`${module.name}.bias`);
      }
      return new QuantisedCheckpoint(base, layers, zeroBiases);
    } catch (error) {
      await base.close();
      throw error;
    }
  }

  has(name: string): boolean {
    return this.#base.has(name) || this.#layers.has(name);
  }

  tensor(name: string, shape: readonly number[]): CheckpointTensor {
    const layer = this.#layers.get(name);
    if (layer === undefined) return roundable(this.#base, this.#base.tensor(name, shape));
    if (shape.length !== 2 || shape.some((size, i) => size !== layer.shape[i])) {
      const message = `tensor ${JSON.stringify(name)}, quantised: has shape [${layer.shape}]; config.json asks for [${shape}]`;
      throw new ModelBuildError('tensor_mismatch', message, { tensor: name });
    }
    this.#used.set(name, elementCount(layer));
    return layer;
  }

  get usedElementCount(): number {
    return this.#used.values().reduce((sum, count) => sum + count, this.#base.usedElementCount);
  }

  checkAllUsed(hasNoEffect: (name: string) => boolean): void {
    this.#base.checkAllUsed(
      name =>
        hasNoEffect(name) ||
        ACTIVATION_SCALES.test(name) ||
        this.#zeroBiases.has(name) ||
        this.#isPartOfUsed(name),
    );
  }

  close(): Promise<void> {
    return this.#base.close();
  }

  #isPartOfUsed(name: string): boolean {
    const dot = name.lastIndexOf('.');
    return LAYER_PARTS.includes(name.slice(dot + 1)) && this.#used.has(`${name.slice(0, dot)}.weight`);
  }
}

/** Throws: `weights_corrupt` for a layer that is there twice. */
function refuseFloats(module: StoredModule): void {
  if (!module.has('qweight') && !module.has('weight_packed')) return;
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
