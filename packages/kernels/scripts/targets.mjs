// What is compiled for which platform, and how. All of it goes into the hash of the sources.

/** Version of `ziglang` on PyPI: Zig, used as a C compiler and linker for all platforms. */
export const ZIG_VERSION = '0.17.1';

/** Flags of every object. */
export const FLAGS = [
  '-std=gnu17',
  // Hot loops are unrolled where the sources say so; all else is small.
  '-Os',
  '-fno-vectorize',
  '-fno-slp-vectorize',
  // Results are the same on all instruction sets only if the compiler fuses no multiplication with an addition by itself.
  '-ffp-contract=off',
  '-fno-math-errno',
  // No libc, and nothing that would need one.
  '-ffreestanding',
  '-fno-stack-protector',
  '-fno-sanitize=all',
  '-fno-unwind-tables',
  '-fno-asynchronous-unwind-tables',
  '-fvisibility=hidden',
  '-g0',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-Wno-unused-function',
  '-Wno-psabi',
];

/** Sources that run on any CPU of an architecture. */
const BASE_SOURCES = [
  'dispatch.c',
  'library.c',
  'op-attention.c',
  'op-convolution.c',
  'op-delta.c',
  'op-mamba.c',
  'op-embedding.c',
  'op-experts.c',
  'op-product.c',
  'operator.c',
  'ort.c',
];

// None of them has loops that a step waits for. `cc` takes -Oz for -Os.
const SMALLEST = ['-Xclang', '-Oz'];

const everywhere = cpu => [
  ...BASE_SOURCES.map(source => ({ source, cpu, flags: SMALLEST })),
  // Its loops are not to become calls of the functions that they are.
  { source: 'memory.c', cpu, flags: [...SMALLEST, '-fno-builtin'] },
];

/** Macs with x64: `dispatch.c` says why there is no more. */
const X64_MAC = [{ source: 'isa-avx2.c', cpu: 'x86_64_v3' }, ...everywhere('x86_64')];

const X64 = [
  { source: 'isa-avx512.c', cpu: 'x86_64_v4+avx512vnni' },
  { source: 'isa-avxvnni.c', cpu: 'x86_64_v3+avxvnni' },
  ...X64_MAC,
];

/** Windows and macOS have calls of their own for the registers of AMX. */
const X64_LINUX = [{ source: 'isa-amx.c', cpu: 'x86_64_v4+avx512vnni+amx_tile+amx_int8' }, ...X64];

const ARM64 = [{ source: 'isa-neon.c', cpu: 'generic+dotprod' }, ...everywhere('generic')];

const ELF = {
  ending: 'so',
  compile: ['-fPIC'],
  link: ['-nostdlib', '-Wl,-z,max-page-size=4096', '-Wl,--build-id=none'],
};

// macOS loads no library that does not name libSystem, which every process there has.
const MACH_O = {
  ending: 'dylib',
  compile: ['-fPIC'],
  link: ['-Wl,-headerpad,0x20', '-Wl,-install_name,@rpath/ortler-kernels.dylib'],
};

const PE = { ending: 'dll', compile: [], link: ['-nostdlib', '-Wl,--entry,DllMainCRTStartup'] };

/** Platforms as Node names them. */
export const TARGETS = {
  'linux-x64': { triple: 'x86_64-linux-gnu', objects: X64_LINUX, ...ELF },
  'linux-arm64': { triple: 'aarch64-linux-gnu', objects: ARM64, ...ELF },
  'darwin-x64': { triple: 'x86_64-macos.11.0', objects: X64_MAC, ...MACH_O },
  'darwin-arm64': { triple: 'aarch64-macos.11.0', objects: ARM64, ...MACH_O },
  'win32-x64': { triple: 'x86_64-windows-gnu', objects: X64, ...PE },
  'win32-arm64': { triple: 'aarch64-windows-gnu', objects: ARM64, ...PE },
};

/** As `libraryName` of `src/find-library.ts`. */
export function libraryName(platform, hash) {
  return `ortler-kernels-${platform}-${hash}.${TARGETS[platform].ending}`;
}
