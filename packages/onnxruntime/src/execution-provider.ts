// Execution providers of ONNX Runtime by device, and the names of their memory.

import koffi from 'koffi';
import type { OrtDevice } from './backend.ts';
import { checkStatus, type Handle, type OrtCApi, receive } from './c-api.ts';

/** Devices besides the CPU. */
export type Accelerator = Exclude<OrtDevice, 'cpu'>;

/** Names of memory on a device. Source: allocator.h of ONNX Runtime. */
export const DEVICE_MEMORY: Readonly<Record<Accelerator, string>> = {
  webgpu: 'WebGPU_Buf',
  cuda: 'Cuda',
};

/** Texts and the array of their addresses, which is good as long as this is held. */
class CStrings {
  readonly addresses: BigUint64Array;
  readonly #texts: readonly Uint8Array[];

  constructor(...texts: readonly string[]) {
    this.#texts = texts.map(text => Buffer.from(`${text}\0`));
    this.addresses = BigUint64Array.from(this.#texts, text => koffi.address(text));
  }
}

/** What the WebGPU provider has to know at its start to record calls. */
const RECORDING_KEYS = new CStrings('enableGraphCapture');
const RECORDING_VALUES = new CStrings('1');

/**
 * Lets a session compute on the device; operators that it has no kernels for stay on the CPU.
 * Throws: `runtime_failed` when there is no such device, or no library for it.
 */
export function appendDevice(
  api: OrtCApi,
  sessionOptions: Handle,
  { device, recordsCalls }: { readonly device: Accelerator; readonly recordsCalls: boolean },
): void {
  const { functions } = api;
  const doing = `The device "${device}" cannot be used`;
  if (device === 'webgpu') {
    const status = recordsCalls
      ? functions.appendProvider(
          sessionOptions,
          'WebGPU',
          RECORDING_KEYS.addresses,
          RECORDING_VALUES.addresses,
          RECORDING_KEYS.addresses.length,
        )
      : functions.appendProvider(sessionOptions, 'WebGPU', null, null, 0);
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
