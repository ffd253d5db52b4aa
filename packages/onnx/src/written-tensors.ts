// Tensors in external data files that are complete: graphs that are written later refer to them, or read them back.

import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { assertInvariant, OnnxError } from './errors.ts';
import type { WrittenBytes } from './graph.ts';
import type { TensorPlacement } from './model-proto.ts';

/** Opens a file when it is first read; `close` must be called. */
export class WrittenTensors implements WrittenBytes {
  readonly #folder: string;
  readonly #placements = new Map<string, TensorPlacement>();
  readonly #files = new Map<string, FileHandle>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Adds the tensors of a file that is whole. */
  add(placements: ReadonlyMap<string, TensorPlacement>): void {
    for (const [name, placement] of placements) this.#placements.set(name, placement);
  }

  /** Where a tensor is; undefined while no file holds it. */
  placement(name: string): TensorPlacement | undefined {
    return this.#placements.get(name);
  }

  /** Throws: `truncated` for a file that has become shorter, I/O errors. */
  async read(name: string, from: number, target: Uint8Array): Promise<void> {
    const placement = this.#placements.get(name);
    assertInvariant(placement !== undefined, `${name} is read before it was written`);
    const length = placement.kind === 'inline' ? placement.bytes.length : placement.length;
    assertInvariant(from + target.length <= length, `${name} is read beyond its end`);
    if (placement.kind === 'inline') {
      target.set(placement.bytes.subarray(from, from + target.length));
      return;
    }
    const path = join(this.#folder, placement.file);
    const file = this.#files.get(path) ?? (await open(path, 'r'));
    this.#files.set(path, file);
    const start = placement.offset + from;
    let done = 0;
    while (done < target.length) {
      const { bytesRead } = await file.read(target, done, target.length - done, start + done);
      if (bytesRead === 0) {
        const message = `${path} ended at byte ${start + done} while it was read again`;
        throw new OnnxError('truncated', message, { file: path, tensor: name });
      }
      done += bytesRead;
    }
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close();
    this.#files.clear();
  }
}
