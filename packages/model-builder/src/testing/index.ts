// Public surface of @ortler/model-builder/testing: checkpoints from nothing but a seed, and adapters from given numbers.

export { createTinyCheckpoint, type TinyCheckpointOptions } from '../tiny-model.ts';
export { writeAdapter } from './write-adapter.ts';
export type { TensorToWrite } from './write-safetensors.ts';
