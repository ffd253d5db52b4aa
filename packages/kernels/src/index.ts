// Public surface of @ortler/kernels.

export { findKernelLibrary, type KernelLibrary } from './find-library.ts';
export {
  BLOCK_INPUTS,
  type BlockCodes,
  blockBytes,
  codeOffset,
  isSuperBlockFormat,
  matrixBytes,
  packBlock,
  packSuperBlock,
  type QuantisedFormat,
  SUPER_BLOCK_INPUTS,
  type SuperBlockCodes,
  type SuperBlockFormat,
  superBlockBytes,
  TILE_OUTPUTS,
  tileBytes,
  unpackBlock,
  unpackSuperBlock,
  WEIGHT_FORMATS,
  type WeightFormat,
} from './tiles.ts';

/** Domain of the operators in graphs. */
export const KERNELS_DOMAIN = 'ortler';
