// The graphics devices that the Vulkan loader knows, with their limits. The loader is the system's; where it is
// missing there is no device either.

import type { LibraryHandle } from 'koffi';
import { openLibrary } from './open-library.ts';

export interface VulkanDevice {
  readonly name: string;
  readonly kind: 'discrete' | 'integrated' | 'cpu' | 'other';
  /** Size of the largest heap on the device. */
  readonly memoryBytes: number;
  /** Largest range of a storage buffer that a shader can reach. */
  readonly maxTensorBytes: number;
}

const LIBRARY = 'libvulkan.so.1';
const SUCCESS = 0;
const STRUCTURE_TYPE_INSTANCE = 1;

/**
 * VkInstanceCreateInfo: the type in the first word, everything else zero, which asks for no layer and no extension.
 * Source of all layouts here: vulkan_core.h, 64 bit.
 */
const INSTANCE_INFO_BYTES = 64;

const PROPERTIES = { bytes: 824, kind: 16, name: 20, nameBytes: 256, maxStorageBufferRange: 324 } as const;
const MEMORY = {
  bytes: 520,
  heapCount: 260,
  heaps: 264,
  heapBytes: 16,
  heapFlags: 8,
  deviceLocal: 1,
} as const;

/** VkPhysicalDeviceType. */
const KINDS: Readonly<Record<number, VulkanDevice['kind']>> = { 1: 'integrated', 2: 'discrete', 4: 'cpu' };

/** Devices in the loader's order; none when there is no loader, or no driver that works. */
export function listVulkanDevices(): readonly VulkanDevice[] {
  const library = openLibrary(LIBRARY);
  if (library === undefined) return [];
  const instance = createInstance(library);
  if (instance === undefined) return [];
  try {
    return listHandles(library, instance).map(handle => readDevice(library, handle));
  } finally {
    library.func('vkDestroyInstance', 'void', ['uintptr_t', 'void *'])(instance, null);
  }
}

function createInstance(library: LibraryHandle): bigint | undefined {
  const info = new Uint8Array(INSTANCE_INFO_BYTES);
  new DataView(info.buffer).setUint32(0, STRUCTURE_TYPE_INSTANCE, true);
  const instance = new BigUint64Array(1);
  const create = library.func('vkCreateInstance', 'int', ['void *', 'void *', 'void *']);
  return create(info, null, instance) === SUCCESS ? instance[0]! : undefined;
}

function listHandles(library: LibraryHandle, instance: bigint): readonly bigint[] {
  const list = library.func('vkEnumeratePhysicalDevices', 'int', ['uintptr_t', 'void *', 'void *']);
  const count = new Uint32Array(1);
  if (list(instance, count, null) !== SUCCESS) return [];
  const handles = new BigUint64Array(count[0]!);
  if (list(instance, count, handles) !== SUCCESS) return [];
  return [...handles.subarray(0, count[0]!)];
}

function readDevice(library: LibraryHandle, handle: bigint): VulkanDevice {
  const read = (name: string, bytes: number): DataView => {
    const result = new Uint8Array(bytes);
    library.func(name, 'void', ['uintptr_t', 'void *'])(handle, result);
    return new DataView(result.buffer);
  };
  const properties = read('vkGetPhysicalDeviceProperties', PROPERTIES.bytes);
  const text = new Uint8Array(properties.buffer, PROPERTIES.name, PROPERTIES.nameBytes);
  return {
    name: Buffer.from(text.subarray(0, text.indexOf(0))).toString('utf8'),
    kind: KINDS[properties.getUint32(PROPERTIES.kind, true)] ?? 'other',
    memoryBytes: largestHeap(read('vkGetPhysicalDeviceMemoryProperties', MEMORY.bytes)),
    maxTensorBytes: properties.getUint32(PROPERTIES.maxStorageBufferRange, true),
  };
}

function largestHeap(memory: DataView): number {
  let largest = 0;
  for (let i = 0; i < memory.getUint32(MEMORY.heapCount, true); i++) {
    const heap = MEMORY.heaps + i * MEMORY.heapBytes;
    const isOnDevice = (memory.getUint32(heap + MEMORY.heapFlags, true) & MEMORY.deviceLocal) !== 0;
    if (isOnDevice) largest = Math.max(largest, Number(memory.getBigUint64(heap, true)));
  }
  return largest;
}
