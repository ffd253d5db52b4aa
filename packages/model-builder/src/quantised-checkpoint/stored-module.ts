// The tensors of one quantised linear layer in the files of a checkpoint: `<module>.qweight`, `<module>.scales` and so on. Types and
// shapes are checked here, so that a damaged file ends with the name of the tensor.

import { ModelBuildError, type ModelBuildErrorCode } from '../errors.ts';
import type { Checkpoint } from '../hugging-face/checkpoint.ts';
import {
  CHECKPOINT_TYPES,
  type CheckpointType,
  rawBytesOf,
  toFloat32InPlace,
} from '../hugging-face/element-types.ts';
import type { SafetensorsFile, TensorEntry } from '../hugging-face/safetensors.ts';

/** Bits of a packed word. */
export const WORD_BITS = 32;
/** Types of packed words in files. */
export const WORD_TYPES = ['I32', 'U32'];

/** A tensor of a module, with the type and shape of the file. */
export interface ModuleTensor {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  /** Fills `target` with bytes from `from` on. Mutates: `target`. Throws: `weights_corrupt`. */
  readBytes(from: number, target: Uint8Array): Promise<void>;
  /** For callers that find a fault in its values. */
  fault(code: ModelBuildErrorCode, message: string): ModelBuildError;
}

/** The tensors of one module. */
export class StoredModule {
  /** Without the name of a tensor: `model.layers.0.mlp.down_proj`. */
  readonly name: string;
  readonly #checkpoint: Checkpoint;

  constructor(checkpoint: Checkpoint, name: string) {
    this.#checkpoint = checkpoint;
    this.name = name;
  }

  has(part: string): boolean {
    return this.#checkpoint.has(`${this.name}.${part}`);
  }

  /** Throws: `tensor_missing`. */
  tensor(part: string): ModuleTensor {
    const found = this.find(part);
    if (found !== undefined) return found;
    const name = `${this.name}.${part}`;
    const message = `no weights file holds tensor ${JSON.stringify(name)}, which the other tensors of this quantised layer need`;
    throw new ModelBuildError('tensor_missing', message, { tensor: name });
  }

  find(part: string): ModuleTensor | undefined {
    const stored = this.#checkpoint.entry(`${this.name}.${part}`);
    return stored === undefined ? undefined : openModuleTensor(stored.file, stored.entry);
  }
}

function openModuleTensor(file: SafetensorsFile, { name, type, shape, begin }: TensorEntry): ModuleTensor {
  return {
    name,
    type,
    shape,
    readBytes: (from, target) => file.read(target, begin + from),
    fault: (code, message) =>
      new ModelBuildError(code, `${file.path}, tensor ${JSON.stringify(name)}: ${message}`, {
        file: file.path,
        tensor: name,
      }),
  };
}

/** Throws: `tensor_mismatch`. `meaning` says in words what the shape is. */
export function checkShape(tensor: ModuleTensor, expected: readonly number[], meaning: string): void {
  const { shape } = tensor;
  if (shape.length === expected.length && shape.every((size, i) => size === expected[i])) return;
  throw tensor.fault('tensor_mismatch', `has shape [${shape}], not [${expected}] (${meaning})`);
}

/** Throws: `tensor_mismatch`. */
export function checkType(tensor: ModuleTensor, allowed: readonly string[]): void {
  if (allowed.includes(tensor.type)) return;
  throw tensor.fault('tensor_mismatch', `has type ${tensor.type}; allowed here are ${allowed.join(', ')}`);
}

/** Elements `[from, from + count)` of a tensor of 32-bit words. Throws: `tensor_mismatch`, `weights_corrupt`. */
export async function readWords(tensor: ModuleTensor, from: number, count: number): Promise<Uint32Array> {
  checkType(tensor, WORD_TYPES);
  const words = new Uint32Array(count);
  await tensor.readBytes(4 * from, new Uint8Array(words.buffer));
  return words;
}

/** Elements of a tensor of floats, which must be finite. Throws: `tensor_mismatch`, `weights_corrupt`. */
export async function readScales(
  tensor: ModuleTensor,
  from: number,
  count: number,
): Promise<Float32Array<ArrayBuffer>> {
  checkType(tensor, CHECKPOINT_TYPES);
  const type = tensor.type as CheckpointType;
  const scales = new Float32Array(count);
  await tensor.readBytes((type === 'F32' ? 4 : 2) * from, rawBytesOf(type, scales));
  toFloat32InPlace(type, scales);
  for (let i = 0; i < count; i++)
    if (!Number.isFinite(scales[i]))
      throw tensor.fault('tensor_mismatch', `element ${from + i} is ${scales[i]}; scales must be finite`);
  return scales;
}

/** The two sizes of a matrix with elements. `meaning`: `[groups, outputs]`. Throws: `tensor_mismatch`. */
export function pairOf(tensor: ModuleTensor, meaning: string): readonly [number, number] {
  const [a, b] = tensor.shape;
  if (tensor.shape.length === 2 && a! > 0 && b! > 0) return [a!, b!];
  throw tensor.fault('tensor_mismatch', `has shape [${tensor.shape}], not ${meaning}`);
}

/** Number of elements. */
export function elementCount({ shape }: { readonly shape: readonly number[] }): number {
  return shape.reduce((product, size) => product * size, 1);
}
