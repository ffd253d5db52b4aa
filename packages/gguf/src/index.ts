// Public surface of @ortler/gguf.

export { GgufError, type GgufErrorCode, type GgufErrorDetails } from './errors.ts';
export { GgufFile } from './file/gguf-file.ts';
export type { GgufTensor } from './file/read-tensors.ts';
export { listGgufFiles } from './file/shards.ts';
export { GgufModel } from './gguf-model.ts';
export type { GgufMetadata, GgufValue } from './metadata.ts';
export { type GgufTokenizer, readGgufTokenizer } from './tokenizer/read-tokenizer.ts';
export type {
  GenerationTokenIds,
  NamedChatTemplate,
  TokenizerConfig,
  TokenizerJson,
} from './tokenizer/tokenizer-json.ts';
export {
  BLOCK_LENGTH,
  BLOCK_TYPES,
  type BlockCodes,
  type BlockType,
  isBlockType,
  readBlockCodes,
} from './values/block-codes.ts';
export { dequantise } from './values/dequantise.ts';
export {
  isSuperBlockType,
  readSuperBlockCodes,
  SUPER_BLOCK_TYPES,
  type SuperBlockCodes,
  type SuperBlockType,
} from './values/super-block-codes.ts';
export { blockLayout, GGUF_TYPES, type GgufType, type TensorType } from './values/tensor-types.ts';
