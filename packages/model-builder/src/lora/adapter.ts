// A PEFT LoRA adapter folder: its pairs of low-rank matrices, by the name of the weight that they change.

import { join } from 'node:path';
import { ModelBuildError } from '../errors.ts';
import { type CheckpointTensor, openTensor } from '../hugging-face/checkpoint-tensor.ts';
import { SafetensorsFile, type TensorEntry } from '../hugging-face/safetensors.ts';
import { type AdapterConfig, readAdapterConfig } from './adapter-config.ts';

export const ADAPTER_WEIGHTS_FILE = 'adapter_model.safetensors';

/** Prefix of the pairs' names: PEFT saves them from a model that it has wrapped twice. */
const PREFIX = 'base_model.model.';
const PAIR_NAME = /^base_model\.model\.(.+)\.lora_([AB])\.weight$/;

/** One low-rank update: `weight + scale * b * a`. */
export interface LowRankPair {
  readonly rank: number;
  readonly scale: number;
  /** Shape: `[rank, in]`. */
  readonly a: CheckpointTensor;
  /** Shape: `[out, rank]`. */
  readonly b: CheckpointTensor;
}

interface FoundPair {
  readonly module: string;
  readonly a: TensorEntry;
  readonly b: TensorEntry;
}

/** Opens the folder and checks that it is plain LoRA; `close` must be called. */
export class LoraAdapter {
  readonly #config: AdapterConfig;
  readonly #file: SafetensorsFile;
  readonly #pairs: ReadonlyMap<string, FoundPair>;

  private constructor(config: AdapterConfig, file: SafetensorsFile) {
    this.#config = config;
    this.#file = file;
    this.#pairs = findPairs(config, file);
  }

  /** Throws: `source_invalid`, `config_invalid`, `weights_corrupt`, `unsupported`, `tensor_missing`. */
  static async open(adapterDir: string): Promise<LoraAdapter> {
    const config = await readAdapterConfig(adapterDir);
    const file = await SafetensorsFile.open(join(adapterDir, ADAPTER_WEIGHTS_FILE));
    try {
      return new LoraAdapter(config, file);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * The update of the weight `name` of that shape; undefined when the adapter has none.
   *
   * Throws: `tensor_mismatch` when the pair does not fit the weight or the rank, `unsupported`.
   */
  pairFor(name: string, shape: readonly number[]): LowRankPair | undefined {
    const found = this.#pairs.get(name);
    if (found === undefined) return undefined;
    const [out, width] = shape;
    if (out === undefined || width === undefined || shape.length !== 2) {
      const message = `changes ${name}, which is not a matrix: it has shape [${shape}]`;
      throw this.#fault('tensor_mismatch', found.a.name, message);
    }
    return this.#openPair(found, [out, width], ` and ${name} of shape [${shape}] ask`);
  }

  /** Checks types and ranks of all pairs; whether they fit their weights shows in the build. Throws: `tensor_mismatch`, `unsupported`. */
  checkPairs(): void {
    for (const pair of this.#pairs.values())
      this.#openPair(pair, [pair.b.shape[0] ?? 1, pair.a.shape[1] ?? 1], ' asks');
  }

  #openPair(
    { module, a, b }: FoundPair,
    [out, width]: readonly [out: number, width: number],
    expectedBy: string,
  ): LowRankPair {
    const { rank, scale } = this.#config.rankOf(module);
    const expected = `rank ${rank} in ${this.#config.path}${expectedBy}`;
    return {
      rank,
      scale,
      a: openTensor(this.#file, a, [rank, width], expected),
      b: openTensor(this.#file, b, [out, rank], expected),
    };
  }

  /** Checks that every pair belongs to a used weight of the base. Throws: `unsupported`. */
  checkAllUsed(isUsed: (name: string) => boolean): void {
    for (const [name, { a, module }] of this.#pairs) {
      if (isUsed(name)) continue;
      throw this.#fault(
        'unsupported',
        a.name,
        `changes ${module}; the base model has no matrix of that name`,
      );
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #fault(code: 'tensor_mismatch' | 'unsupported', tensor: string, message: string): ModelBuildError {
    return tensorFault(code, this.#file, tensor, message);
  }
}

function findPairs(config: AdapterConfig, file: SafetensorsFile): Map<string, FoundPair> {
  const modules = new Map<string, { a?: TensorEntry; b?: TensorEntry }>();
  for (const [name, entry] of file.tensors) {
    const [, module, part] = PAIR_NAME.exec(name) ?? [];
    if (module === undefined) {
      const message = `is not part of plain LoRA; allowed: ${PREFIX}<module>.lora_A.weight and .lora_B.weight`;
      throw tensorFault('unsupported', file, name, message);
    }
    if (!config.isTarget(module)) {
      const message = `changes ${module}, which target_modules in ${config.path} does not name`;
      throw tensorFault('unsupported', file, name, message);
    }
    const pair = modules.get(module) ?? {};
    modules.set(module, part === 'A' ? { ...pair, a: entry } : { ...pair, b: entry });
  }
  if (modules.size === 0) {
    throw new ModelBuildError('source_invalid', `${file.path} holds no tensors`, { file: file.path });
  }
  const pairs = new Map<string, FoundPair>();
  for (const [module, { a, b }] of modules) {
    if (a === undefined || b === undefined) {
      const missing = `${PREFIX}${module}.lora_${a === undefined ? 'A' : 'B'}.weight`;
      throw tensorFault('tensor_missing', file, missing, 'is missing, but its counterpart is there');
    }
    pairs.set(`${module}.weight`, { module, a, b });
  }
  return pairs;
}

function tensorFault(
  code: 'tensor_mismatch' | 'tensor_missing' | 'unsupported',
  { path }: SafetensorsFile,
  tensor: string,
  message: string,
): ModelBuildError {
  const text = `${path}, tensor ${JSON.stringify(tensor)}: ${message}`;
  return new ModelBuildError(code, text, { file: path, tensor });
}
