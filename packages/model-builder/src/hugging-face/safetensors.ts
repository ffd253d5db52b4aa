// One safetensors file: validates the whole header on opening, and reads tensors lazily.
// Format: 8 bytes of header length (little-endian), a JSON header, then the tensors without gaps.
// Source: https://huggingface.co/docs/safetensors and the checks of the reference implementation.

import { type FileHandle, open } from 'node:fs/promises';
import { GIT_LFS_START } from '@ortler/onnx';
import { ModelBuildError } from '../errors.ts';
import { readFault } from '../read-fault.ts';
import { SAFETENSORS_BYTES } from './element-types.ts';
import { findDuplicateKey } from './json-keys.ts';

/** The reference implementation's own limit. Unit: bytes. */
export const MAX_HEADER_BYTES = 100_000_000;
const LENGTH_FIELD_BYTES = 8;

export interface TensorEntry {
  readonly name: string;
  /** Type name in the file, which may be one that the builder does not support. */
  readonly type: string;
  readonly shape: readonly number[];
  /** Byte range inside the file. */
  readonly begin: number;
  readonly end: number;
}

/** An open safetensors file with a validated header; `close` must be called. */
export class SafetensorsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, TensorEntry>;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle, tensors: ReadonlyMap<string, TensorEntry>) {
    this.path = path;
    this.#handle = handle;
    this.tensors = tensors;
  }

  /** Throws: `source_invalid` when there is no such file, `source_unreadable`, `weights_corrupt` when its header is invalid. */
  static async open(path: string): Promise<SafetensorsFile> {
    const handle = await open(path, 'r').catch((cause: unknown) => {
      throw readFault(path, cause);
    });
    try {
      return new SafetensorsFile(path, handle, await readHeader(path, handle));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Fills `target` with bytes of the file from `position`. Mutates: `target`. */
  async read(target: Uint8Array, position: number): Promise<void> {
    await readFully(this.path, this.#handle, target, position);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function readHeader(path: string, handle: FileHandle): Promise<Map<string, TensorEntry>> {
  const { size } = await handle.stat();
  if (size < LENGTH_FIELD_BYTES) {
    throw corrupt(path, `holds ${size} bytes; a safetensors file begins with 8 bytes of header length`);
  }
  const lengthField = new Uint8Array(LENGTH_FIELD_BYTES);
  await readFully(path, handle, lengthField, 0);
  // As a length it exceeds the limit.
  if (Buffer.from(lengthField).toString('latin1') === GIT_LFS_START) {
    throw corrupt(path, 'is a pointer of Git LFS, not the weights: fetch them with "git lfs pull"');
  }
  const headerBytes = new DataView(lengthField.buffer).getBigUint64(0, true);
  if (headerBytes > BigInt(MAX_HEADER_BYTES)) {
    throw corrupt(path, `claims a header of ${headerBytes} bytes; at most ${MAX_HEADER_BYTES} are allowed`);
  }
  const dataStart = LENGTH_FIELD_BYTES + Number(headerBytes);
  if (dataStart > size) {
    throw corrupt(path, `is truncated: the header ends at byte ${dataStart}, the file at ${size}`);
  }
  const header = new Uint8Array(Number(headerBytes));
  await readFully(path, handle, header, LENGTH_FIELD_BYTES);
  const entries = parseEntries(path, parseHeaderJson(path, header), dataStart);
  checkLayout(path, entries, dataStart, size);
  return new Map(entries.map(entry => [entry.name, entry]));
}

function parseHeaderJson(path: string, header: Uint8Array): Record<string, unknown> {
  let parsed: unknown;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(header);
    parsed = JSON.parse(text);
  } catch (cause) {
    throw corrupt(path, 'has a header that is not JSON in UTF-8', undefined, cause);
  }
  if (!isObject(parsed)) throw corrupt(path, 'has a header that is not a JSON object');
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) throw corrupt(path, 'names this tensor twice in its header', duplicate);
  return parsed;
}

function parseEntries(path: string, header: Record<string, unknown>, dataStart: number): TensorEntry[] {
  const entries: TensorEntry[] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    entries.push(parseEntry(path, name, value, dataStart));
  }
  return entries;
}

function parseEntry(path: string, name: string, value: unknown, dataStart: number): TensorEntry {
  if (!isObject(value)) throw corrupt(path, 'describes this tensor by something other than an object', name);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== 'string') throw corrupt(path, 'gives no dtype for this tensor', name);
  if (!Array.isArray(shape) || !shape.every(isCount)) {
    throw corrupt(path, 'gives a shape that is not a list of whole numbers from 0', name);
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount)) {
    throw corrupt(path, 'gives data_offsets that are not two whole numbers from 0', name);
  }
  const [begin, end] = offsets as [number, number];
  if (end < begin)
    throw corrupt(path, `gives data_offsets that end (${end}) before they begin (${begin})`, name);
  const elementBytes = SAFETENSORS_BYTES.get(dtype);
  const elementCount = shape.reduce((product: number, dim: number) => product * dim, 1);
  if (elementBytes !== undefined && end - begin !== elementCount * elementBytes) {
    throw corrupt(
      path,
      `gives ${end - begin} bytes to this tensor; shape [${shape}] of ${dtype} needs ${elementCount * elementBytes}`,
      name,
    );
  }
  return { name, type: dtype, shape, begin: dataStart + begin, end: dataStart + end };
}

/** Tensors must follow each other without a gap or an overlap, from the end of the header to the end of the file. */
function checkLayout(path: string, entries: readonly TensorEntry[], dataStart: number, size: number): void {
  const ordered = entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end);
  let expected = dataStart;
  for (const entry of ordered) {
    if (entry.begin !== expected) {
      const fault = entry.begin < expected ? 'overlaps the tensor before it' : 'leaves a gap before it';
      throw corrupt(
        path,
        `has a tensor that ${fault} (begins at ${entry.begin}, not ${expected})`,
        entry.name,
      );
    }
    expected = entry.end;
    if (expected > size) {
      throw corrupt(
        path,
        `is truncated: this tensor ends at byte ${expected}, the file at ${size}`,
        entry.name,
      );
    }
  }
  if (expected !== size) {
    throw corrupt(path, `has ${size - expected} bytes after the last tensor that no tensor claims`);
  }
}

async function readFully(
  path: string,
  handle: FileHandle,
  target: Uint8Array,
  position: number,
): Promise<void> {
  let done = 0;
  while (done < target.length) {
    const { bytesRead } = await handle.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) throw corrupt(path, `ended at byte ${position + done} while it was read`);
    done += bytesRead;
  }
}

function corrupt(path: string, fault: string, tensor?: string, cause?: unknown): ModelBuildError {
  const where = tensor === undefined ? path : `${path}, tensor ${JSON.stringify(tensor)}:`;
  const details = tensor === undefined ? { file: path, cause } : { file: path, tensor, cause };
  return new ModelBuildError('weights_corrupt', `${where} ${fault}`, details);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
