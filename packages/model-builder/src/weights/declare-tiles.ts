// Declares weights in the tiles of the CPU kernels. Values are read from the checkpoint when the graph is written.

import {
  BLOCK_INPUTS,
  blockBytes,
  isSuperBlockFormat,
  matrixBytes,
  packBlock,
  type QuantisedFormat,
  TILE_OUTPUTS,
  tileBytes,
  type WeightFormat,
} from '@ortler/kernels';
import type { GraphRecorder } from '@ortler/onnx';
import { assertInvariant, ModelBuildError } from '../errors.ts';
import type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
import { createFittedBlock, fitBlock } from './fit-block.ts';
import { movableCodes } from './move-codes.ts';
import { MatrixError, type WrittenMatrix } from './written-matrix.ts';

/** A matrix in tiles that a graph declares. */
export interface TiledMatrix {
  readonly name: string;
  readonly format: WeightFormat;
  readonly inputs: number;
  /** Rows of a matrix, those of all interleaved tensors together. */
  readonly outputs: number;
}

export interface TilesOptions {
  readonly format: WeightFormat;
  /**
   * How many tensors make a matrix, their tiles in turns; several matrices come one after the other. Default:
   * all.
   */
  readonly interleaved?: number | undefined;
  /** Called when the last tile is made. The error is measured on the bytes of the tiles only if this is given. */
  readonly onMatrix?: ((matrix: WrittenMatrix) => void) | undefined;
}

/** Bytes of tiles that are made at a time, about. */
const CHUNK_BYTES = 1 << 20;

/**
 * Declares one matrix, several of equal shape whose tiles alternate (gates and ups of a gated product), or several such matrices one
 * after the other (experts). Codes of the checkpoint that the format holds are moved; other values are fitted.
 *
 * Shape of the tensors: `[outputs, inputs]`; of the declared one: its bytes. The producer throws: `unsupported` for values beyond
 * float16.
 */
export function declareTiles(
  graph: GraphRecorder,
  name: string,
  tensors: readonly CheckpointTensor[],
  { format, interleaved = tensors.length, onMatrix }: TilesOptions,
): TiledMatrix {
  const [rowCount, inputs] = tensors[0]!.shape as readonly [number, number];
  const bytes = tensors.length * matrixBytes(format, rowCount, inputs);
  graph.weightGroup({
    tensors: [{ name, type: 'uint8', dims: [bytes] }],
    async *produce() {
      const error = onMatrix === undefined ? undefined : new MatrixError(format);
      for (let first = 0; first < tensors.length; first += interleaved)
        yield* matrixChunks(tensors.slice(first, first + interleaved), format, error);
      if (error === undefined) return;
      const weightCount = tensors.length * rowCount * inputs;
      const fileTypes = [...new Set(tensors.flatMap(({ quantised }) => quantised?.type ?? []))];
      onMatrix?.({ name, format, fileTypes, weightCount, bytes, relativeError: error.relative });
    },
  });
  return { name, format, inputs, outputs: interleaved * rowCount };
}

/** The tiles of one matrix, made of one tensor or of several in turns. */
async function* matrixChunks(
  tensors: readonly CheckpointTensor[],
  format: WeightFormat,
  error: MatrixError | undefined,
): AsyncGenerator<[Uint8Array]> {
  const [rowCount, inputs] = tensors[0]!.shape as readonly [number, number];
  const tileSize = tileBytes(format, inputs);
  const tileCount = Math.ceil(rowCount / TILE_OUTPUTS);
  const tilesPerChunk = Math.max(1, Math.floor(CHUNK_BYTES / tileSize));
  const width = Math.ceil(inputs / BLOCK_INPUTS) * BLOCK_INPUTS;
  for (let first = 0; first < tileCount; first += tilesPerChunk) {
    const count = Math.min(tilesPerChunk, tileCount - first);
    const chunk = new Uint8Array(count * tensors.length * tileSize);
    for (const [part, tensor] of tensors.entries()) {
      const placeOf = (tile: number) => (tile * tensors.length + part) * tileSize;
      const codes = movableCodes(tensor, format);
      if (codes !== undefined) {
        const rows = Math.min(count * TILE_OUTPUTS, rowCount - first * TILE_OUTPUTS);
        const writeTile = await codes.readTiles(first * TILE_OUTPUTS, rows);
        for (let tile = 0; tile < count; tile++) writeTile(tile, chunk, placeOf(tile));
        if (error === undefined) continue;
      }
      const rows = await readRows(tensor, first * TILE_OUTPUTS, count * TILE_OUTPUTS, width);
      for (let tile = 0; tile < count; tile++) {
        const values = rows.subarray(tile * TILE_OUTPUTS * width, (tile + 1) * TILE_OUTPUTS * width);
        if (codes === undefined) fitTile(tensor, format, values, chunk, placeOf(tile));
        error?.add(values, chunk, placeOf(tile));
      }
    }
    yield [chunk];
  }
}

/** Rows from `firstRow` on, each filled with zeros up to `width`; rows after the last one are zero. */
async function readRows(
  tensor: CheckpointTensor,
  firstRow: number,
  count: number,
  width: number,
): Promise<Float32Array<ArrayBuffer>> {
  const [rowCount, inputs] = tensor.shape as readonly [number, number];
  const present = Math.min(count, rowCount - firstRow);
  const rows = new Float32Array(count * width);
  const read = width === inputs ? rows.subarray(0, present * inputs) : new Float32Array(present * inputs);
  await tensor.readFloats(firstRow * inputs, read);
  if (width !== inputs)
    for (let row = 0; row < present; row++)
      rows.set(read.subarray(row * inputs, (row + 1) * inputs), row * width);
  return rows;
}

/** Mutates: `chunk`. Throws: `unsupported` for values beyond float16. */
function fitTile(
  tensor: CheckpointTensor,
  format: WeightFormat,
  values: Float32Array,
  chunk: Uint8Array<ArrayBuffer>,
  at: number,
): void {
  assertInvariant(!isSuperBlockFormat(format), `${tensor.name} has the codes of super-blocks in ${format}`);
  const width = values.length / TILE_OUTPUTS;
  if (format === 'f32') writeFloatTile(values, width, chunk, at);
  else if (!writeTile(format, values, width, chunk, at)) throw beyondFloat16(tensor);
}

/** Inputs of the 16 outputs side by side. Mutates: `chunk`. */
function writeFloatTile(
  values: Float32Array,
  width: number,
  chunk: Uint8Array<ArrayBuffer>,
  at: number,
): void {
  const tile = new Float32Array(chunk.buffer, chunk.byteOffset + at, TILE_OUTPUTS * width);
  for (let output = 0; output < TILE_OUTPUTS; output++)
    for (let input = 0; input < width; input++)
      tile[input * TILE_OUTPUTS + output] = values[output * width + input]!;
}

function beyondFloat16({ name }: CheckpointTensor): ModelBuildError {
  const message = `${name} has values whose scale is beyond float16, which reaches 65504`;
  return new ModelBuildError('unsupported', message, { tensor: name });
}

/** Mutates: `chunk`. Returns whether all scales and minimums are within float16. */
function writeTile(
  format: QuantisedFormat,
  values: Float32Array,
  width: number,
  chunk: Uint8Array,
  at: number,
): boolean {
  const size = blockBytes(format);
  const fitted = createFittedBlock();
  const codes = new Uint8Array(TILE_OUTPUTS * BLOCK_INPUTS);
  const scales = new Float16Array(TILE_OUTPUTS);
  const minimums = new Float16Array(TILE_OUTPUTS);
  const block = {
    codes,
    scales: new Uint16Array(scales.buffer),
    minimums: new Uint16Array(minimums.buffer),
  };
  for (let input = 0; input < width; input += BLOCK_INPUTS) {
    for (let output = 0; output < TILE_OUTPUTS; output++) {
      fitBlock(format, values, output * width + input, fitted);
      if (!Number.isFinite(fitted.scale) || !Number.isFinite(fitted.minimum)) return false;
      codes.set(fitted.codes, output * BLOCK_INPUTS);
      scales[output] = fitted.scale;
      minimums[output] = fitted.minimum;
    }
    packBlock(format, block, chunk, at + (input / BLOCK_INPUTS) * size);
  }
  return true;
}
