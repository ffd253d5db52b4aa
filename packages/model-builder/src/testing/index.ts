// Public surface of @ortler/model-builder/testing: checkpoints for tests, made from nothing but a seed.

export { createTinyCheckpoint, type TinyCheckpointOptions } from '../tiny-model.ts';
