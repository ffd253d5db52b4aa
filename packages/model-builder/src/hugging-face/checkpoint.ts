// The weights of a Hugging Face folder, in one file or in shards with an index, looked up by name. Blocks request a tensor
// with its expected shape; values are read later, in pieces.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelBuildError } from '../errors.ts';
import { type CheckpointTensor, openTensor } from './checkpoint-tensor.ts';
import { SafetensorsFile, type TensorEntry } from './safetensors.ts';

export const SINGLE_WEIGHTS_FILE = 'model.safetensors';
export const WEIGHTS_INDEX_FILE = 'model.safetensors.index.json';

/** Source of weights for blocks: a checkpoint, or one with an adapter merged into it. */
export interface WeightSource {
  /** Whether any weights file holds the tensor. */
  has(name: string): boolean;
  /** The tensor `name`, which must have exactly `shape`. Throws: `tensor_missing`, `tensor_mismatch`, `unsupported`. */
  tensor(name: string, shape: readonly number[]): CheckpointTensor;
  /** Elements of all requested tensors, each counted once: the parameter count of the model. */
  readonly usedElementCount: number;
  /**
   * Checks that every tensor was requested. Others, such as biases or layers that config.json does not imply, mean that the
   * built model would differ from the checkpoint.
   *
   * Throws: `unsupported`, except for names that `hasNoEffect` accepts.
   */
  checkAllUsed(hasNoEffect: (name: string) => boolean): void;
  close(): Promise<void>;
}

/** A tensor in its file, before its type and shape are checked. */
export interface StoredTensor {
  readonly file: SafetensorsFile;
  readonly entry: TensorEntry;
}

/** Names of the weights files of a folder, relative to it, the index included. Throws: `source_invalid`. */
export async function listWeightFiles(sourceDir: string): Promise<string[]> {
  if (await isFile(join(sourceDir, SINGLE_WEIGHTS_FILE))) return [SINGLE_WEIGHTS_FILE];
  if (!(await isFile(join(sourceDir, WEIGHTS_INDEX_FILE)))) {
    throw new ModelBuildError(
      'source_invalid',
      `${sourceDir} holds neither ${SINGLE_WEIGHTS_FILE} nor ${WEIGHTS_INDEX_FILE}; weights must be safetensors`,
      { file: join(sourceDir, SINGLE_WEIGHTS_FILE) },
    );
  }
  const weightMap = await readIndex(join(sourceDir, WEIGHTS_INDEX_FILE));
  return [WEIGHTS_INDEX_FILE, ...new Set(Object.values(weightMap))].toSorted();
}

/** Opens all weights files of a folder. `close` must be called. */
export class Checkpoint implements WeightSource {
  readonly #files: readonly SafetensorsFile[];
  readonly #tensors: ReadonlyMap<string, StoredTensor>;
  readonly #folder: string;
  readonly #used = new Map<string, number>();

  private constructor(folder: string, files: readonly SafetensorsFile[]) {
    const tensors = new Map<string, StoredTensor>();
    for (const file of files) {
      for (const [name, entry] of file.tensors) {
        const other = tensors.get(name);
        if (other !== undefined) {
          throw new ModelBuildError(
            'weights_corrupt',
            `tensor ${JSON.stringify(name)} is in two weights files: ${other.file.path} and ${file.path}`,
            { file: file.path, tensor: name },
          );
        }
        tensors.set(name, { file, entry });
      }
    }
    this.#folder = folder;
    this.#files = files;
    this.#tensors = tensors;
  }

  /** Throws: `source_invalid`, `weights_corrupt`. */
  static async open(sourceDir: string): Promise<Checkpoint> {
    const names = (await listWeightFiles(sourceDir)).filter(name => name !== WEIGHTS_INDEX_FILE);
    const files: SafetensorsFile[] = [];
    try {
      for (const name of names) files.push(await SafetensorsFile.open(join(sourceDir, name)));
      const checkpoint = new Checkpoint(sourceDir, files);
      if (names[0] !== SINGLE_WEIGHTS_FILE) await checkpoint.#checkIndex();
      return checkpoint;
    } catch (error) {
      for (const file of files) await file.close();
      throw error;
    }
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  get names(): readonly string[] {
    return [...this.#tensors.keys()];
  }

  /** Where the file of a tensor has it, in whatever type and shape. */
  entry(name: string): StoredTensor | undefined {
    return this.#tensors.get(name);
  }

  tensor(name: string, shape: readonly number[]): CheckpointTensor {
    const found = this.#tensors.get(name);
    if (found === undefined) {
      throw new ModelBuildError(
        'tensor_missing',
        `${this.#folder}: no weights file holds tensor ${JSON.stringify(name)}, expected with shape [${shape}]`,
        { file: this.#files[0]!.path, tensor: name },
      );
    }
    const { file, entry } = found;
    const tensor = openTensor(file, entry, shape, 'config.json asks');
    this.#used.set(
      name,
      shape.reduce((product, dim) => product * dim, 1),
    );
    return tensor;
  }

  get usedElementCount(): number {
    return this.#used.values().reduce((sum, count) => sum + count, 0);
  }

  checkAllUsed(hasNoEffect: (name: string) => boolean): void {
    for (const name of [...this.#tensors.keys()].toSorted()) {
      if (this.#used.has(name) || hasNoEffect(name)) continue;
      const file = this.#tensors.get(name)!.file.path;
      throw new ModelBuildError(
        'unsupported',
        `${file}, tensor ${JSON.stringify(name)}: the model that config.json describes has no such tensor`,
        { file, tensor: name },
      );
    }
  }

  async close(): Promise<void> {
    for (const file of this.#files) await file.close();
  }

  /** Checks that each tensor of the index is in its shard. */
  async #checkIndex(): Promise<void> {
    const indexPath = join(this.#folder, WEIGHTS_INDEX_FILE);
    for (const [name, fileName] of Object.entries(await readIndex(indexPath))) {
      const path = join(this.#folder, fileName);
      if (this.#tensors.get(name)?.file.path !== path) {
        throw new ModelBuildError(
          'tensor_missing',
          `${path} does not hold tensor ${JSON.stringify(name)}, which ${indexPath} places there`,
          { file: path, tensor: name },
        );
      }
    }
  }
}

/** It is read on the thread that serves all requests, too. A hundred thousand tensors take 10 MB. */
const MOST_INDEX_BYTES = 32 * 1024 * 1024;

async function readIndex(path: string): Promise<Record<string, string>> {
  let parsed: unknown;
  let text: string;
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size > MOST_INDEX_BYTES) {
    const message = `${path} has ${size} bytes; at most ${MOST_INDEX_BYTES} are read`;
    throw new ModelBuildError('weights_corrupt', message, { file: path });
  }
  try {
    text = await readFile(path, 'utf8');
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new ModelBuildError('weights_corrupt', `${path} is not readable JSON`, { file: path, cause });
  }
  const weightMap = (parsed as { weight_map?: unknown } | null)?.weight_map;
  if (typeof weightMap !== 'object' || weightMap === null || Object.keys(weightMap).length === 0) {
    throw new ModelBuildError('weights_corrupt', `${path} has no "weight_map" object with tensors`, {
      file: path,
      key: 'weight_map',
    });
  }
  for (const [name, fileName] of Object.entries(weightMap)) {
    // A shard is a file name without a folder, so that an index cannot point outside its folder.
    if (typeof fileName !== 'string' || !/^[\w.-]+\.safetensors$/.test(fileName)) {
      throw new ModelBuildError(
        'weights_corrupt',
        `${path} places tensor ${JSON.stringify(name)} in ${JSON.stringify(fileName)}; a shard is a *.safetensors file name without a folder`,
        { file: path, tensor: name, key: `weight_map.${name}` },
      );
    }
  }
  return weightMap as Record<string, string>;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    stats => stats.isFile(),
    () => false,
  );
}
