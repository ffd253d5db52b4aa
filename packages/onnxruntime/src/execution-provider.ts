// Execution providers of ONNX Runtime by device, and the names of their memory.

import type { OrtDevice } from './backend.ts';
import { checkStatus, type Handle, type OrtCApi, receive } from './c-api.ts';

/** Devices besides the CPU. */
export type Accelerator = Exclude<OrtDevice, 'cpu'>;

/** Names of memory on a device. Source: allocator.h of ONNX Runtime. */
export const DEVICE_MEMORY: Readonly<Record<Accelerator, string>> = {
  webgpu: 'WebGPU_Buf',
  cuda: 'Cuda',
};

/**
 * Lets a session compute on the device; operators that it has no kernels for stay on the CPU.
 * Throws: `runtime_failed` when there is no such device, or no library for it.
 */
export function appendDevice(api: OrtCApi, sessionOptions: Handle, device: Accelerator): void {
  const { functions } = api;
  const doing = `The device "${device}" cannot be used`;
  if (device === 'webgpu') {
    const status = functions.appendProvider(sessionOptions, 'WebGPU', null, null, 0);
    checkStatus(functions, status, 'runtime_failed', doing);
    return;
  }
  const cudaOptions = receive(api, 'runtime_failed', doing, out => functions.createCudaProviderOptions(out));
  try {
    checkStatus(
      functions,
      functions.appendCudaProvider(sessionOptions, cudaOptions),
      'runtime_failed',
      doing,
    );
  } finally {
    functions.releaseCudaProviderOptions(cudaOptions);
  }
}
