// Execution providers of ONNX Runtime by device, and the names of their memory.

import type { OrtDevice, OrtSessionOptions } from './backend.ts';
import { checkStatus, type Handle, type OrtCApi, receive } from './c-api.ts';
import { assertInvariant } from './errors.ts';

/** Devices besides the CPU. */
export type Accelerator = Exclude<OrtDevice, 'cpu'>;

/** Names of memory on a device. Source: allocator.h of ONNX Runtime. */
export const DEVICE_MEMORY: Readonly<Record<Accelerator, string>> = {
  webgpu: 'WebGPU_Buf',
  cuda: 'Cuda',
};

/** Session setting for the bits of WebGPU's KV cache. Source: webgpu_provider_options.h of ONNX Runtime. */
const KV_CACHE_BITS = 'ep.webgpuexecutionprovider.kvCacheQuantizationBits';

/**
 * Lets a session compute on the device; operators that it has no kernels for stay on the CPU.
 * Throws: `runtime_failed` when there is no such device, or no library for it.
 */
export function appendDevice(
  api: OrtCApi,
  sessionOptions: Handle,
  device: Accelerator,
  { int8KvCache = false }: Pick<OrtSessionOptions, 'int8KvCache'>,
): void {
  const { functions } = api;
  assertInvariant(!int8KvCache || device === 'webgpu', `the provider of "${device}" has no int8 KV cache`);
  const doing = `The device "${device}" cannot be used`;
  if (device === 'webgpu') {
    if (int8KvCache) {
      const set = functions.addSessionConfigEntry(sessionOptions, KV_CACHE_BITS, '8');
      checkStatus(functions, set, 'runtime_failed', doing);
    }
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
