// The contract of an ONNX model folder between model-builder, which writes it, and the engine's runners: file names,
// input and output names, shapes, and the manifest. The two share only this folder.

export * from './cache-size.ts';
export * from './layer-cache.ts';
export * from './manifest.ts';
export * from './model-folder.ts';
export * from './tensor-names.ts';
export * from './variants.ts';
