// Missing libraries of the CUDA execution provider. The provider itself is not part of the npm package, because it is too large
// for the registry.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findOrtLibrary } from '../find-library.ts';
import { openLibrary } from '../open-library.ts';

/** Where the libraries are looked for; tests pass their own. */
export interface CudaEnvironment {
  readonly platform: string;
  readonly arch: string;
  /** The library that needs the provider beside it. */
  readonly libraryFile: string;
  readonly hasFile: (file: string) => boolean;
  /** Whether the system's loader finds a library. */
  readonly hasLibrary: (name: string) => boolean;
}

const PROVIDER_FILES = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];
/** Library of the display driver, and those of the CUDA 12 runtime that the provider is linked with. */
const DRIVER_LIBRARY = 'libcuda.so.1';
const RUNTIME_LIBRARIES = [
  'libcudart.so.12',
  'libcublas.so.12',
  'libcublasLt.so.12',
  'libcufft.so.11',
  'libcudnn.so.9',
];

/** Everything that is missing and how to get it, in one message; undefined when all of it is there. */
export function describeMissingCuda(environment: CudaEnvironment = here()): string | undefined {
  const { platform, arch, libraryFile, hasFile, hasLibrary } = environment;
  if (platform !== 'linux' || arch !== 'x64')
    return `The device "cuda" needs Linux on x64, for which its provider is published; this is ${platform} ${arch}. The device "webgpu" uses the GPU here.`;
  const problems: string[] = [];
  const folder = dirname(libraryFile);
  const files = PROVIDER_FILES.filter(name => !hasFile(join(folder, name)));
  if (files.length > 0)
    problems.push(
      `${list(files)} in ${folder}: "ONNXRUNTIME_NODE_INSTALL=cuda12 node script/install.js" in the folder of onnxruntime-node downloads them`,
    );
  if (!hasLibrary(DRIVER_LIBRARY)) problems.push(`${DRIVER_LIBRARY}: it comes with NVIDIA's display driver`);
  const libraries = RUNTIME_LIBRARIES.filter(name => !hasLibrary(name));
  if (libraries.length > 0)
    problems.push(
      `${list(libraries)}: they come with CUDA 12 and cuDNN 9, and must be where the system's loader looks (LD_LIBRARY_PATH)`,
    );
  return problems.length === 0
    ? undefined
    : `The device "cuda" cannot be used. Missing are ${problems.join('; ')}. The device "webgpu" needs none of these.`;
}

function here(): CudaEnvironment {
  return {
    platform: process.platform,
    arch: process.arch,
    libraryFile: findOrtLibrary().file,
    hasFile: existsSync,
    hasLibrary: name => openLibrary(name) !== undefined,
  };
}

function list(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`;
}
