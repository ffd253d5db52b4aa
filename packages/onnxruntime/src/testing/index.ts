// Conformance suites for bindings of ONNX Runtime, small graphs to try them with, and whether this machine has WebGPU.

export { createNativeBackend } from '../native-backend.ts';
export { ORT_BACKEND_CONFORMANCE } from './ort-backend-conformance.ts';
export { ORT_DEVICE_CONFORMANCE } from './ort-device-conformance.ts';
export { addGraph, identityModel } from './tiny-graphs.ts';
export { whyNoWebGpu } from './webgpu-tests.ts';
