// Public surface of @ortler/model-builder/testing: checkpoints from nothing but a seed, adapters from given numbers, and
// ways to read them or to write them for other programs.

export { readDecoderConfig } from '../architectures/read-decoder-config.ts';
export { Checkpoint } from '../hugging-face/checkpoint.ts';
export type { CheckpointTensor } from '../hugging-face/checkpoint-tensor.ts';
export type { DecoderConfig } from '../hugging-face/decoder-config.ts';
export { type OptimumModelOptions, writeOptimumModel } from './optimum-model.ts';
export { createTinyGguf, type TinyGguf, type TinyGgufOptions } from './tiny-gguf.ts';
export { createTinyCheckpoint, type TinyCheckpointOptions } from './tiny-model.ts';
export { tinyTokenizerFiles } from './tiny-tokenizer.ts';
export { createTinyAdapter, writeAdapter } from './write-adapter.ts';
export type { TensorToWrite } from './write-safetensors.ts';
