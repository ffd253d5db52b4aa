// One tensor of a weights file, with validated type and shape, whose values are read lazily in pieces.

import { ModelBuildError } from '../errors.ts';
import type { QuantisedStorage } from '../stored-codes.ts';
import { CHECKPOINT_TYPES, type CheckpointType, rawBytesOf, toFloat32InPlace } from './element-types.ts';
import type { SafetensorsFile, TensorEntry } from './safetensors.ts';

/** A tensor of the checkpoint with validated type and shape. */
export interface CheckpointTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** Absent where the values are floats in the file. */
  readonly quantised?: QuantisedStorage;
  /**
   * Reads elements `[from, from + target.length)` of the flattened tensor as float32.
   *
   * Mutates: `target`. Throws: `weights_corrupt`, `tensor_mismatch` for values that are not finite.
   */
  readFloats(from: number, target: Float32Array): Promise<void>;
}

/**
 * Opens a tensor of `file` that must have exactly `shape`; `expectedBy` names the origin of the shape in messages.
 *
 * Throws: `unsupported` for other element types, `tensor_mismatch` for other shapes.
 */
export function openTensor(
  file: SafetensorsFile,
  entry: TensorEntry,
  shape: readonly number[],
  expectedBy: string,
): CheckpointTensor {
  const { type } = entry;
  if (!isCheckpointType(type)) {
    throw fault('unsupported', file, entry, `has type ${type}; supported: ${CHECKPOINT_TYPES.join(', ')}`);
  }
  if (entry.shape.length !== shape.length || entry.shape.some((dim, i) => dim !== shape[i])) {
    const message = `has shape [${entry.shape}]; ${expectedBy} for [${shape}]`;
    throw fault('tensor_mismatch', file, entry, message);
  }
  const elementBytes = type === 'F32' ? 4 : 2;
  return {
    name: entry.name,
    shape: entry.shape,
    async readFloats(from, target) {
      await file.read(rawBytesOf(type, target), entry.begin + from * elementBytes);
      toFloat32InPlace(type, target);
      const i = firstNotFinite(target);
      if (i === undefined) return;
      const message = `element ${from + i} is ${target[i]}; weights must be finite`;
      throw fault('tensor_mismatch', file, entry, message);
    },
  };
}

/** A separate function, because the same loop takes twice as long inside an async function. */
export function firstNotFinite(values: Float32Array): number | undefined {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i])) return i;
  return undefined;
}

function fault(
  code: 'unsupported' | 'tensor_mismatch',
  { path }: SafetensorsFile,
  { name }: TensorEntry,
  message: string,
): ModelBuildError {
  const text = `${path}, tensor ${JSON.stringify(name)}: ${message}`;
  return new ModelBuildError(code, text, { file: path, tensor: name });
}

function isCheckpointType(type: string): type is CheckpointType {
  return (CHECKPOINT_TYPES as readonly string[]).includes(type);
}
