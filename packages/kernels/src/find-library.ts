// Where the prebuilt library of this platform is.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SOURCE_HASH } from './source-hash.ts';

/** Platforms with a prebuilt library, as Node names them, and the ending of its name. */
const PLATFORMS = {
  'linux-x64': 'so',
  'linux-arm64': 'so',
  'darwin-x64': 'dylib',
  'darwin-arm64': 'dylib',
  'win32-x64': 'dll',
  'win32-arm64': 'dll',
} as const satisfies Readonly<Record<string, string>>;

export type KernelPlatform = keyof typeof PLATFORMS;

/** The name carries the hash of its sources, so a library of other sources is never loaded. */
export function libraryName(platform: KernelPlatform, hash: string): string {
  return `ortler-kernels-${platform}-${hash}.${PLATFORMS[platform]}`;
}

export type KernelLibrary =
  | { readonly file: string; readonly hash: string }
  /** Why there is none, without paths of the machine, because clients may see it. */
  | { readonly missing: string };

export function findKernelLibrary(platform = `${process.platform}-${process.arch}`): KernelLibrary {
  if (!Object.hasOwn(PLATFORMS, platform)) return { missing: `there are no kernels for ${platform}` };
  const name = libraryName(platform as KernelPlatform, SOURCE_HASH);
  const file = fileURLToPath(new URL(`../prebuilt/${name}`, import.meta.url));
  if (!existsSync(file)) return { missing: `the library ${name} is missing` };
  return { file, hash: SOURCE_HASH };
}
