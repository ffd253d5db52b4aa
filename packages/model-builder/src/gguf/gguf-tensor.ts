// One tensor of a GGUF file under its name in the checkpoint: values and codes of its rows, in the order of the checkpoint.

import {
  BLOCK_TYPES,
  type BlockType,
  blockLayout,
  dequantise,
  type GgufModel,
  type GgufType,
  isBlockType,
  isSuperBlockType,
  readBlockCodes,
  readSuperBlockCodes,
  SUPER_BLOCK_TYPES,
  type SuperBlockType,
} from '@ortler/gguf';
import {
  BLOCK_INPUTS,
  type QuantisedFormat,
  SUPER_BLOCK_INPUTS,
  type SuperBlockFormat,
  type WeightFormat,
} from '@ortler/kernels';
import { assertInvariant, ModelBuildError } from '../errors.ts';
import { type CheckpointTensor, firstNotFinite } from '../hugging-face/checkpoint-tensor.ts';
import {
  allocateCodeRows,
  allocateSuperBlockRows,
  type CodeRows,
  type QuantisedStorage,
  type StoredCodes,
  type StoredSuperBlocks,
  type SuperBlockRows,
} from '../stored-codes.ts';
import { checkingGguf, readingGguf } from './gguf-fault.ts';
import { headsAround, rowInFile } from './row-order.ts';

/** The formats of the CPU kernels that hold codes, scales and minimums of these types as they are. */
const FORMATS: Readonly<Record<BlockType, QuantisedFormat>> = {
  Q8_0: 'q8',
  Q4_0: 'q4',
  Q4_1: 'q4-min',
  Q5_0: 'q5',
  Q5_1: 'q5-min',
  IQ4_NL: 'q8',
  MXFP4: 'q5',
};

/** The formats that hold super-blocks of these types as they are. */
const SUPER_FORMATS: Readonly<Record<SuperBlockType, SuperBlockFormat>> = {
  Q4_K: 'q4-k',
  Q5_K: 'q5-k',
  Q6_K: 'q6-k',
  Q3_K: 'q6-k',
};

/** Whether values of the type are floats of their own. */
export function isFloatType(type: string): boolean {
  return type === 'F32' || type === 'F16' || type === 'BF16';
}

/** Whether matrices of the type keep their values: with minimums and in super-blocks only in the formats of the CPU kernels. */
export function keptType(type: string, variant: 'kernels' | 'slots'): boolean {
  if (isSuperBlockType(type)) return variant === 'kernels';
  return isBlockType(type) && (variant === 'kernels' || !BLOCK_TYPES[type].hasMinimum);
}

/**
 * The format of the CPU kernels that holds the values of a matrix of the type with this many inputs. Undefined where none does: they are
 * fitted.
 */
export function keptFormat(type: string, inputs: number): WeightFormat | undefined {
  if (isFloatType(type)) return 'f32';
  if (isBlockType(type)) return FORMATS[type];
  return isSuperBlockType(type) && inputs % SUPER_BLOCK_INPUTS === 0 ? SUPER_FORMATS[type] : undefined;
}

export interface GgufTensorSource {
  readonly model: GgufModel;
  /** In the checkpoint. */
  readonly name: string;
  readonly ggufName: string;
  readonly shape: readonly number[];
  /** Of queries and keys whose rows are in the order of llama.cpp. */
  readonly permutedHeadSize: number | undefined;
}

/** Throws: `unsupported` for a type whose values cannot be read. */
export function openGgufTensor(source: GgufTensorSource): CheckpointTensor {
  const type = checkingGguf(() => source.model.typeOf(source.ggufName));
  return new GgufTensorRows(source, type);
}

class GgufTensorRows implements CheckpointTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly quantised?: QuantisedStorage;
  readonly #source: GgufTensorSource;
  readonly #type: GgufType;
  /** Elements of a row; a vector has rows of one, so that the rows of biases can be moved too. */
  readonly #width: number;

  constructor(source: GgufTensorSource, type: GgufType) {
    const { name, shape } = source;
    this.name = name;
    this.shape = shape;
    this.#source = source;
    this.#type = type;
    this.#width = shape.length === 1 ? 1 : shape[shape.length - 1]!;
    if (!isFloatType(type)) this.quantised = { type, codes: this.#codes(), superBlocks: this.#superBlocks() };
  }

  // An arrow, because callers take the function from the object.
  readonly readFloats = async (from: number, target: Float32Array): Promise<void> => {
    const { permutedHeadSize } = this.#source;
    if (permutedHeadSize === undefined) {
      dequantise(this.#type, await this.#bytes(from, target.length), target);
    } else {
      const width = this.#width;
      assertInvariant(
        from % width === 0 && target.length % width === 0,
        `${this.name} is read in whole rows`,
      );
      const [first, count] = [from / width, target.length / width];
      const heads = headsAround(first, count, permutedHeadSize);
      const values = new Float32Array(heads.count * width);
      dequantise(this.#type, await this.#bytes(heads.begin * width, values.length), values);
      for (let row = 0; row < count; row++) {
        const at = (rowInFile(first + row, permutedHeadSize) - heads.begin) * width;
        target.set(values.subarray(at, at + width), row * width);
      }
    }
    const i = firstNotFinite(target);
    if (i !== undefined) throw this.#notFinite(`element ${from + i} is ${target[i]}`);
  };

  #codes(): StoredCodes | undefined {
    const type = this.#type;
    if (!isBlockType(type) || this.shape.length < 2) return undefined;
    return { format: FORMATS[type], readRows: (first, count) => this.#readCodes(type, first, count) };
  }

  /** A row that is not a whole number of super-blocks has none that a tile could hold. */
  #superBlocks(): StoredSuperBlocks | undefined {
    const type = this.#type;
    if (!isSuperBlockType(type) || this.shape.length < 2 || this.#width % SUPER_BLOCK_INPUTS !== 0)
      return undefined;
    return {
      format: SUPER_FORMATS[type],
      readRows: (first, count) => this.#readSuperBlocks(type, first, count),
    };
  }

  async #readCodes(type: BlockType, first: number, count: number): Promise<CodeRows> {
    const width = this.#width;
    const rows = allocateCodeRows(count, width);
    const blocks = width / BLOCK_INPUTS;
    for (const [row, bytes] of (await this.#rowsOfBytes(first, count)).entries())
      copyBlocks(type, bytes, rows, row * blocks);
    this.#checkFinite(rows.scales, first * blocks);
    this.#checkFinite(rows.minimums, first * blocks);
    return rows;
  }

  async #readSuperBlocks(type: SuperBlockType, first: number, count: number): Promise<SuperBlockRows> {
    const width = this.#width;
    const rows = allocateSuperBlockRows(count, width);
    const superBlocks = width / SUPER_BLOCK_INPUTS;
    for (const [row, bytes] of (await this.#rowsOfBytes(first, count)).entries())
      copySuperBlocks(type, bytes, rows, row * superBlocks);
    this.#checkFinite(rows.factors, first * superBlocks);
    this.#checkFinite(rows.minimumFactors, first * superBlocks);
    return rows;
  }

  /** The bytes of each row `[first, first + count)` of the checkpoint. */
  async #rowsOfBytes(first: number, count: number): Promise<readonly Uint8Array[]> {
    const { permutedHeadSize } = this.#source;
    const width = this.#width;
    const heads =
      permutedHeadSize === undefined ? { begin: first, count } : headsAround(first, count, permutedHeadSize);
    const bytes = await this.#bytes(heads.begin * width, heads.count * width);
    const rowBytes = bytes.length / heads.count;
    return Array.from({ length: count }, (_, row) => {
      const inFile = permutedHeadSize === undefined ? first + row : rowInFile(first + row, permutedHeadSize);
      const at = (inFile - heads.begin) * rowBytes;
      return bytes.subarray(at, at + rowBytes);
    });
  }

  /** `firstBlock`: the number of the first one, for the message. */
  #checkFinite(halves: Uint16Array, firstBlock: number): void {
    const i = firstNotFinite16(halves);
    if (i !== undefined)
      throw this.#notFinite(`the scale or minimum of block ${firstBlock + i} is NaN or infinite`);
  }

  async #bytes(from: number, count: number): Promise<Uint8Array> {
    const { model, ggufName } = this.#source;
    return readingGguf(() => model.readBytes(ggufName, from, count));
  }

  #notFinite(fault: string): ModelBuildError {
    const { model, ggufName } = this.#source;
    const file = model.fileOf(ggufName);
    const message = `${file}, tensor ${JSON.stringify(ggufName)}: ${fault}; weights must be finite`;
    return new ModelBuildError('tensor_mismatch', message, { file, tensor: ggufName });
  }
}

/** Mutates: `rows`, from the block number `to` on. */
function copyBlocks(type: BlockType, bytes: Uint8Array, rows: CodeRows, to: number): void {
  const { blockBytes } = blockLayout(type);
  const block = { codes: new Uint8Array(BLOCK_INPUTS), scale: 0, minimum: 0 };
  for (let i = 0; i * blockBytes < bytes.length; i++) {
    readBlockCodes(type, bytes, i * blockBytes, block);
    rows.codes.set(block.codes, (to + i) * BLOCK_INPUTS);
    rows.scales[to + i] = block.scale;
    rows.minimums[to + i] = block.minimum;
  }
}

/** Mutates: `rows`, from the super-block number `to` on. */
function copySuperBlocks(type: SuperBlockType, bytes: Uint8Array, rows: SuperBlockRows, to: number): void {
  const { blockBytes } = SUPER_BLOCK_TYPES[type];
  const block = {
    codes: new Uint8Array(SUPER_BLOCK_INPUTS),
    scales: new Uint8Array(16),
    factor: 0,
    minimumFactor: 0,
  };
  for (let i = 0; i * blockBytes < bytes.length; i++) {
    readSuperBlockCodes(type, bytes, i * blockBytes, block);
    rows.codes.set(block.codes, (to + i) * SUPER_BLOCK_INPUTS);
    rows.scales.set(block.scales, (to + i) * 16);
    rows.factors[to + i] = block.factor;
    rows.minimumFactors[to + i] = block.minimumFactor;
  }
}

/** Bits of the exponent of float16; all set in infinities and NaN. */
const EXPONENT_BITS = 0x7c00;

function firstNotFinite16(halves: Uint16Array): number | undefined {
  for (let i = 0; i < halves.length; i++) if ((halves[i]! & EXPONENT_BITS) === EXPONENT_BITS) return i;
  return undefined;
}
