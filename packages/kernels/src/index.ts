// Public surface of @ortler/kernels.

export { findKernelLibrary, type KernelLibrary } from './find-library.ts';
export {
  BLOCK_INPUTS,
  type BlockCodes,
  blockBytes,
  codeOffset,
  matrixBytes,
  packBlock,
  type QuantisedFormat,
  TILE_OUTPUTS,
  tileBytes,
  unpackBlock,
  WEIGHT_FORMATS,
  type WeightFormat,
} from './tiles.ts';

/** Domain of the operators in graphs. */
export const KERNELS_DOMAIN = 'ortler';
