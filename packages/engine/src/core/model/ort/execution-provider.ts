// What ONNX Runtime calls a device: the execution provider that computes there and the memory it allocates.

import koffi from 'koffi';
import type { OrtDevice } from './backend.ts';
import { checkStatus, type Handle, type OrtCApi, receive } from './c-api.ts';

/** Devices besides the processor. */
export type Accelerator = Exclude<OrtDevice, 'cpu'>;

/** Names of memory on a device. Source: allocator.h of ONNX Runtime. */
export const DEVICE_MEMORY: Readonly<Record<Accelerator, string>> = {
  webgpu: 'WebGPU_Buf',
  cuda: 'Cuda',
};

/** What the WebGPU provider has to know at its start to record calls. */
const RECORDING_SETTINGS: Readonly<Record<string, string>> = { enableGraphCapture: '1' };

/**
 * Lets a session compute on the device; operators that it has no kernels for stay on the processor.
 * Throws: `engine_failed` when there is no such device, or no library for it.
 */
export function appendDevice(
  api: OrtCApi,
  sessionOptions: Handle,
  { device, recordsCalls }: { readonly device: Accelerator; readonly recordsCalls: boolean },
): void {
  const { functions } = api;
  const doing = `The device "${device}" cannot be used`;
  if (device === 'webgpu') {
    const settings = recordsCalls ? RECORDING_SETTINGS : {};
    const keys = cStrings(Object.keys(settings));
    const values = cStrings(Object.values(settings));
    const count = keys.texts.length;
    const status = functions.appendProvider(
      sessionOptions,
      'WebGPU',
      keys.addresses,
      values.addresses,
      count,
    );
    checkStatus(functions, status, 'engine_failed', doing);
    return;
  }
  const cudaOptions = receive(api, 'engine_failed', doing, out => functions.createCudaProviderOptions(out));
  try {
    checkStatus(functions, functions.appendCudaProvider(sessionOptions, cudaOptions), 'engine_failed', doing);
  } finally {
    functions.releaseCudaProviderOptions(cudaOptions);
  }
}

/** The addresses stay good as long as the texts are held. */
function cStrings(texts: readonly string[]): {
  readonly texts: readonly Uint8Array[];
  readonly addresses: BigUint64Array;
} {
  const bytes = texts.map(text => Buffer.from(`${text}\0`));
  return { texts: bytes, addresses: BigUint64Array.from(bytes, text => koffi.address(text)) };
}
