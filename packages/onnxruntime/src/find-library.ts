// Where the installed onnxruntime-node package keeps the ONNX Runtime library of this platform.

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isMusl } from './is-musl.ts';

export interface OrtLibrary {
  readonly file: string;
  /** Version of the package, which is that of the library. */
  readonly version: string;
}

/** Throws: when the package is not installed or carries no library for this platform. */
export function findOrtLibrary(
  platform: string = process.platform,
  arch: string = process.arch,
  hasMusl: () => boolean = isMusl,
): OrtLibrary {
  if (platform === 'linux' && hasMusl())
    throw new Error(
      'ONNX Runtime has no build for Linux with musl, such as Alpine. It needs glibc, as in Debian and Ubuntu (node:24-bookworm-slim).',
    );
  const packageFile = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const folder = join(dirname(packageFile), 'bin', 'napi-v6', platform, arch);
  const file = join(folder, libraryName(platform, version));
  if (!existsSync(file)) {
    throw new Error(
      `onnxruntime-node ${version} has no library for ${platform} ${arch}: ${file} is missing.`,
    );
  }
  return { file, version };
}

function libraryName(platform: string, version: string): string {
  if (platform === 'win32') return 'onnxruntime.dll';
  if (platform === 'darwin') return `libonnxruntime.${version}.dylib`;
  return 'libonnxruntime.so.1';
}
