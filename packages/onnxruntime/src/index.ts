// Public surface of @ortler/onnxruntime.

export type {
  ElementArray,
  ElementType,
  KernelChoice,
  KernelIsa,
  KernelsInUse,
  OrtBackend,
  OrtBackendOptions,
  OrtBinding,
  OrtDevice,
  OrtDeviceFacts,
  OrtRunOptions,
  OrtSession,
  OrtSessionOptions,
  OrtTensor,
  OrtValue,
} from './backend.ts';
export { chooseDevice, type DeviceChoice } from './device/choose-device.ts';
export { byteLengthOf, bytesOf, ELEMENT_TYPES } from './element-types.ts';
export { OrtError, type OrtErrorCode } from './errors.ts';
export { probeKernels } from './probe-kernels.ts';
export { LARGEST_REUSED_BYTES } from './reused-memory.ts';
export { type SelectedBackend, selectBackend } from './select-backend.ts';
