// The native binding by itself, a small graph to try it with, and whether this machine has WebGPU.

export { createNativeBackend } from '../native-backend.ts';
export { addGraph } from './tiny-graphs.ts';
export { whyNoWebGpu } from './webgpu-tests.ts';
