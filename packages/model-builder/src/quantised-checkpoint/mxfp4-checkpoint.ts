// The weights of a folder whose experts are in MXFP4, as gpt-oss is published: for each matrix of all experts
//
//   <name>_blocks   U8 [experts, outputs, inputs / 32, 16]   two inputs in each byte, the first one in its low half
//   <name>_scales   U8 [experts, outputs, inputs / 32]       powers of two with a bias of 127
//
// are the tensor `<name>.weight`, `[experts, outputs, inputs]`. Blocks become those of GGUF, whose codes are held by a format of the kernels.
// Source: OCP Microscaling Formats 1.0; transformers, integrations/mxfp4.py

import { BLOCK_TYPES, dequantise, readBlockCodes } from '@ortler/gguf';
import { BLOCK_INPUTS } from '@ortler/kernels';
import { ModelBuildError } from '../errors.ts';
import { Checkpoint, type WeightSource } from '../hugging-face/checkpoint.ts';
import { type CheckpointTensor, firstNotFinite } from '../hugging-face/checkpoint-tensor.ts';
import { allocateCodeRows, type CodeRows } from '../stored-codes.ts';
import { roundable } from './roundable.ts';
import { checkShape, checkType, elementCount, type ModuleTensor, StoredModule } from './stored-module.ts';

const TYPE = 'MXFP4';
const PACKED_BYTES = BLOCK_INPUTS / 2;
const { blockBytes: BLOCK_BYTES } = BLOCK_TYPES[TYPE];
const PARTS = /^(.+)_(blocks|scales)$/;

/** Closing it closes the files. */
export class Mxfp4Checkpoint implements WeightSource {
  readonly #base: Checkpoint;
  readonly #used = new Map<string, number>();

  private constructor(base: Checkpoint) {
    this.#base = base;
  }

  /** Throws: as `Checkpoint.open`. */
  static async open(sourceDir: string): Promise<Mxfp4Checkpoint> {
    return new Mxfp4Checkpoint(await Checkpoint.open(sourceDir));
  }

  has(name: string): boolean {
    return this.#base.has(name) || this.#packed(name) !== undefined;
  }

  tensor(name: string, shape: readonly number[]): CheckpointTensor {
    const packed = this.#packed(name);
    if (packed === undefined) return roundable(this.#base, this.#base.tensor(name, shape));
    const tensor = openPacked(name, shape, packed);
    this.#used.set(packed.name, elementCount(tensor));
    return tensor;
  }

  get usedElementCount(): number {
    return this.#used.values().reduce((sum, count) => sum + count, this.#base.usedElementCount);
  }

  checkAllUsed(hasNoEffect: (name: string) => boolean): void {
    this.#base.checkAllUsed(name => hasNoEffect(name) || this.#used.has(PARTS.exec(name)?.[1] ?? ''));
  }

  close(): Promise<void> {
    return this.#base.close();
  }

  /** Undefined for a tensor that is not in this format. */
  #packed(name: string): Packed | undefined {
    if (!name.endsWith('.weight')) return undefined;
    const stem = name.slice(0, -'.weight'.length);
    const dot = stem.lastIndexOf('.');
    const module = new StoredModule(this.#base, stem.slice(0, dot));
    const [blocks, scales] = ['blocks', 'scales'].map(part => module.find(`${stem.slice(dot + 1)}_${part}`));
    if (blocks === undefined) return undefined;
    if (scales === undefined)
      throw blocks.fault('tensor_missing', `has no ${stem}_scales beside it, without which it has no values`);
    return { name: stem, blocks, scales };
  }
}

interface Packed {
  readonly name: string;
  readonly blocks: ModuleTensor;
  readonly scales: ModuleTensor;
}

/** Throws: `tensor_mismatch`. */
function openPacked(name: string, shape: readonly number[], { blocks, scales }: Packed): CheckpointTensor {
  const inputs = shape.at(-1)!;
  if (inputs % BLOCK_INPUTS !== 0) {
    const message = `tensor ${JSON.stringify(name)}: ${inputs} inputs are not a whole number of blocks of ${BLOCK_INPUTS}`;
    throw new ModelBuildError('tensor_mismatch', message, { tensor: name });
  }
  const width = inputs / BLOCK_INPUTS;
  for (const part of [blocks, scales]) checkType(part, ['U8']);
  checkShape(scales, [...shape.slice(0, -1), width], 'a power for each block');
  checkShape(blocks, [...shape.slice(0, -1), width, PACKED_BYTES], '16 bytes for each block');
  /** Blocks `[first, first + count)` as GGUF has them. */
  const read = async (first: number, count: number) => {
    const [codes, powers] = [new Uint8Array(count * PACKED_BYTES), new Uint8Array(count)];
    await blocks.readBytes(first * PACKED_BYTES, codes);
    await scales.readBytes(first, powers);
    return toGgufBlocks(codes, powers);
  };
  return {
    name,
    shape,
    quantised: {
      type: TYPE,
      codes: {
        format: 'q5',
        readRows: async (first, count) => toCodeRows(await read(first * width, count * width), count, inputs),
      },
    },
    async readFloats(from, target) {
      dequantise(TYPE, await read(from / BLOCK_INPUTS, target.length / BLOCK_INPUTS), target);
      const i = firstNotFinite(target);
      if (i === undefined) return;
      throw scales.fault(
        'tensor_mismatch',
        `element ${from + i} of ${name} is not a number; weights must be finite`,
      );
    },
  };
}

/** A power, then the codes of inputs 0 to 15 in the low halves of 16 bytes and those of the others in the high halves. */
function toGgufBlocks(codes: Uint8Array, powers: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(powers.length * BLOCK_BYTES);
  const codeOf = (block: number, input: number) =>
    (codes[block * PACKED_BYTES + (input >> 1)]! >> (4 * (input & 1))) & 15;
  for (let block = 0; block < powers.length; block++) {
    const at = block * BLOCK_BYTES;
    bytes[at] = powers[block]!;
    for (let i = 0; i < PACKED_BYTES; i++)
      bytes[at + 1 + i] = codeOf(block, i) | (codeOf(block, PACKED_BYTES + i) << 4);
  }
  return bytes;
}

function toCodeRows(bytes: Uint8Array, rowCount: number, inputs: number): CodeRows {
  const rows = allocateCodeRows(rowCount, inputs);
  const block = { codes: new Uint8Array(BLOCK_INPUTS), scale: 0, minimum: 0 };
  for (let i = 0; i < rows.scales.length; i++) {
    readBlockCodes(TYPE, bytes, i * BLOCK_BYTES, block);
    rows.codes.set(block.codes, i * BLOCK_INPUTS);
    rows.scales[i] = block.scale;
  }
  return rows;
}
