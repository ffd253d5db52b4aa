// A model in GGUF: one file or all of its shards, and the values of its tensors.

import { GgufError } from './errors.ts';
import { GgufFile } from './file/gguf-file.ts';
import type { GgufTensor } from './file/read-tensors.ts';
import { listGgufFiles } from './file/shards.ts';
import type { GgufMetadata } from './metadata.ts';
import { dequantise } from './values/dequantise.ts';
import { GGUF_TYPES, type GgufType, isGgufType } from './values/tensor-types.ts';

interface PlacedTensor {
  readonly file: GgufFile;
  readonly tensor: GgufTensor;
}

/** An open model; `close` must be called. */
export class GgufModel {
  /** Of the first file. */
  readonly metadata: GgufMetadata;
  readonly #files: readonly GgufFile[];
  readonly #tensors: ReadonlyMap<string, PlacedTensor>;

  private constructor(files: readonly GgufFile[]) {
    this.metadata = files[0]!.metadata;
    this.#files = files;
    this.#tensors = joinTensors(files);
  }

  /** Opens the file, or with a shard all shards of its model. Throws: `unreadable`, `corrupt`, `unsupported`. */
  static async open(path: string): Promise<GgufModel> {
    const files: GgufFile[] = [];
    try {
      for (const name of listGgufFiles(path)) files.push(await GgufFile.open(name));
      checkSplit(files);
      return new GgufModel(files);
    } catch (error) {
      for (const file of files) await file.close();
      throw error;
    }
  }

  /** Path of the first file. */
  get path(): string {
    return this.#files[0]!.path;
  }

  get tensorNames(): readonly string[] {
    return [...this.#tensors.keys()];
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  /** Undefined where no file has it. */
  tensor(name: string): GgufTensor | undefined {
    return this.#tensors.get(name)?.tensor;
  }

  /** Path of the file that has the tensor; the first one where none has. */
  fileOf(name: string): string {
    return this.#tensors.get(name)?.file.path ?? this.path;
  }

  /** The type of the tensor. Throws: `unsupported` for one whose values cannot be read, with those that can. */
  typeOf(name: string): GgufType {
    const { file, tensor } = this.#placed(name);
    const type = tensor.type.name;
    if (isGgufType(type)) return type;
    const message = `${file.path}, tensor ${JSON.stringify(name)}: has type ${type}; supported: ${GGUF_TYPES.join(', ')}`;
    throw new GgufError('unsupported', message, { file: file.path, tensor: name });
  }

  /** The bytes of elements `[from, from + count)`, which are whole blocks. Throws: `corrupt`. */
  async readBytes(name: string, from: number, count: number): Promise<Uint8Array> {
    const { file, tensor } = this.#placed(name);
    const { blockLength, blockBytes } = tensor.type;
    if (from % blockLength !== 0 || count % blockLength !== 0)
      throw new RangeError(`elements ${from} to ${from + count} are not whole blocks of ${blockLength}`);
    const begin = tensor.begin + (from / blockLength) * blockBytes;
    const length = (count / blockLength) * blockBytes;
    if (begin + length > tensor.end)
      throw new RangeError(`elements ${from} to ${from + count} are not in ${name}`);
    const bytes = new Uint8Array(length);
    await file.read(bytes, begin);
    return bytes;
  }

  /** Dequantises elements `[from, from + target.length)`. Mutates: `target`. Throws: `corrupt`, `unsupported`. */
  async readFloats(name: string, from: number, target: Float32Array): Promise<void> {
    const type = this.typeOf(name);
    dequantise(type, await this.readBytes(name, from, target.length), target);
  }

  async close(): Promise<void> {
    for (const file of this.#files) await file.close();
  }

  #placed(name: string): PlacedTensor {
    const placed = this.#tensors.get(name);
    if (placed === undefined) throw new RangeError(`there is no tensor ${name}`);
    return placed;
  }
}

function joinTensors(files: readonly GgufFile[]): ReadonlyMap<string, PlacedTensor> {
  const tensors = new Map<string, PlacedTensor>();
  for (const file of files) {
    for (const [name, tensor] of file.tensors) {
      const other = tensors.get(name);
      if (other !== undefined) {
        const message = `${file.path}, tensor ${JSON.stringify(name)}: is in ${other.file.path} too`;
        throw new GgufError('corrupt', message, { file: file.path, tensor: name });
      }
      tensors.set(name, { file, tensor });
    }
  }
  return tensors;
}

/** Every shard says how many there are, which one it is and how many tensors all have together. Throws: `corrupt`. */
function checkSplit(files: readonly GgufFile[]): void {
  const tensorCount = files.reduce((sum, { tensors }) => sum + tensors.size, 0);
  const isSplit = files.length > 1 || splitNumber(files[0]!, 'split.count', 1) > 1;
  if (!isSplit) return;
  for (const [i, file] of files.entries()) {
    const expected = { 'split.count': files.length, 'split.no': i, 'split.tensors.count': tensorCount };
    for (const [key, value] of Object.entries(expected)) {
      const found = splitNumber(file, key, undefined);
      if (found === value) continue;
      const message = `${file.path}, metadata key "${key}": is ${found ?? 'absent'}, but the names of the files and their tensors say ${value}; shards are named name-00001-of-00003.gguf and lie in one folder`;
      throw new GgufError('corrupt', message, { file: file.path, key });
    }
  }
}

function splitNumber<T extends number | undefined>(file: GgufFile, key: string, fallback: T): number | T {
  const value = file.metadata.get(key);
  return typeof value === 'number' ? value : fallback;
}
