// GGUF files of tests.

export { encodeGguf, type FieldToWrite, type GgufToWrite, type TensorToWrite } from './encode-gguf.ts';
export { seededBlocks } from './seeded-blocks.ts';
