// Name and memory of the first CUDA device, from the display driver's own library, which needs no toolkit.

import { openLibrary } from './open-library.ts';

const LIBRARY = process.platform === 'win32' ? 'nvcuda.dll' : 'libcuda.so.1';
const SUCCESS = 0;
const FIRST_DEVICE = 0;
const NAME_BYTES = 256;

/** Empty when no driver is installed, or it has no device. */
export function readCudaDevice(): { readonly name?: string; readonly memoryBytes?: number } {
  const library = openLibrary(LIBRARY);
  if (library === undefined) return {};
  const call = (name: string, ...values: readonly (number | ArrayBufferView)[]): boolean => {
    const types = values.map(value => (typeof value === 'number' ? 'int' : 'void *'));
    return library.func(name, 'int', types)(...values) === SUCCESS;
  };
  const device = new Int32Array(1);
  const name = new Uint8Array(NAME_BYTES);
  const memory = new BigUint64Array(1);
  const isThere =
    call('cuInit', 0) &&
    call('cuDeviceGet', device, FIRST_DEVICE) &&
    call('cuDeviceGetName', name, NAME_BYTES, device[0]!) &&
    call('cuDeviceTotalMem_v2', memory, device[0]!);
  if (!isThere) return {};
  const text = Buffer.from(name.subarray(0, name.indexOf(0))).toString('utf8');
  return { name: text, memoryBytes: Number(memory[0]!) };
}
