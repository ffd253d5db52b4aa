// Name and memory of a device, read from its driver through FFI without creating a device, because ONNX Runtime does not
// report them. For drivers without such a query (Direct3D, Metal) only the device's kind is known.

import type { OrtDevice, OrtDeviceFacts } from './backend.ts';
import { readCudaDevice } from './cuda-device.ts';
import { listVulkanDevices, type VulkanDevice } from './vulkan-devices.ts';

/** Facts of the device that a session would take. */
export function describeDevice(device: OrtDevice): OrtDeviceFacts {
  if (device === 'cpu') return { device };
  if (device === 'cuda') return { device, ...readCudaDevice() };
  const taken = process.platform === 'linux' ? takenDevice(listVulkanDevices()) : undefined;
  if (taken === undefined) return { device };
  const { name, kind, memoryBytes, maxTensorBytes } = taken;
  return { device, name, isSoftware: kind === 'cpu', memoryBytes, maxTensorBytes };
}

/** Kinds in the order in which the WebGPU provider takes them: it asks for high performance. */
const PREFERENCE: readonly VulkanDevice['kind'][] = ['discrete', 'integrated', 'other', 'cpu'];

/** The first of the best kind. */
export function takenDevice(devices: readonly VulkanDevice[]): VulkanDevice | undefined {
  for (const kind of PREFERENCE) {
    const found = devices.find(device => device.kind === kind);
    if (found !== undefined) return found;
  }
  return undefined;
}
