// Public surface of @ortler/model-builder/testing: checkpoints for tests, made from nothing but a seed, and ways to
// read them or to write them for other programs.

export { Checkpoint, type CheckpointTensor } from '../hugging-face/checkpoint.ts';
export { type DecoderConfig, readDecoderConfig } from '../hugging-face/config.ts';
export { createTinyCheckpoint, type TinyCheckpointOptions } from '../tiny-model.ts';
export { type OptimumModelOptions, writeOptimumModel } from './optimum-model.ts';
