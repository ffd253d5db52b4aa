// Builds the tests in C: with the system's compiler and its sanitisers, and for arm64 with the pinned one.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forEachAtOnce, runProgram } from '../scripts/programs.mjs';
import { TARGETS } from '../scripts/targets.mjs';
import { installZig } from '../scripts/zig.mjs';

const SOURCES = fileURLToPath(new URL('./', import.meta.url));

/** What all builds have in common. `-ffp-contract` as in the libraries: results depend on it. */
const FLAGS = ['-std=gnu17', '-ffp-contract=off', '-fno-math-errno', '-Wno-psabi'];

const TEST_SOURCES = [
  'main.c',
  'buffers.c',
  'product-test.c',
  'experts-test.c',
  'attention-test.c',
  'states-test.c',
  '../c/dispatch.c',
];

const AVX2 = ['-mavx2', '-mfma', '-mf16c'];
const AVX512 = [...AVX2, '-mavx512f', '-mavx512bw', '-mavx512dq', '-mavx512vl', '-mavx512vnni'];
const NEON = ['-march=armv8.2-a+dotprod'];

/**
 * The definition and the instruction sets of this machine's architecture. The definition has fused multiply-adds of the
 * processor: calls of the C library, whose bits are the same, would take two thirds of the time of the tests.
 */
const ISA_SOURCES =
  process.arch === 'arm64'
    ? [
        ['../c/isa-plain.c', []],
        ['../c/isa-neon.c', NEON],
      ]
    : [
        ['../c/isa-plain.c', AVX2],
        ['../c/isa-avx2.c', AVX2],
        ['../c/isa-avx512.c', AVX512],
        ['isa-avxvnni-wide.c', AVX512],
        ['isa-amx-emulated.c', AVX512],
      ];

/** Twice as fast to compile with as gcc's own choices: line numbers alone, and one region for the allocation of registers. */
const GCC_QUICK = ['-g1', '-fira-region=one'];

const objectOf = source => source.replaceAll(/\.\.\/c\/|\.c$/g, '').concat('.o');

/** With the address and undefined behaviour sanitisers, by the compiler that CC names or gcc. Gives the program's path. */
export async function compileSanitised(folder) {
  await mkdir(folder, { recursive: true });
  const compiler = process.env.CC ?? 'gcc';
  const debug = compiler === 'gcc' ? GCC_QUICK : ['-g'];
  const sanitisers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
  const sources = [...ISA_SOURCES, ...TEST_SOURCES.map(source => [source, []])];
  await forEachAtOnce(sources, ([source, flags]) => {
    const args = [...FLAGS, '-O1', ...debug, '-DSANITISED', ...sanitisers, ...flags, '-c', source];
    return runProgram(`Compiling ${source}`, compiler, [...args, '-o', join(folder, objectOf(source))], {
      cwd: SOURCES,
    });
  });
  const program = join(folder, 'kernels-test');
  const objects = sources.map(([source]) => join(folder, objectOf(source)));
  await runProgram('Linking the tests', compiler, [...sanitisers, ...objects, '-lm', '-o', program]);
  return program;
}

/** For arm64, the code of NEON with the flags of the library. The C library is glibc: Zig would build another from its sources. */
export async function compileForArm64(folder) {
  await mkdir(folder, { recursive: true });
  const zig = await installZig(console.error);
  const target = ['-target', TARGETS['linux-arm64'].triple];
  const neon = TARGETS['linux-arm64'].objects.find(({ source }) => source === 'isa-neon.c');
  const sources = [
    ['../c/isa-neon.c', neon.cpu],
    ...[...TEST_SOURCES, '../c/isa-plain.c'].map(source => [source, 'generic']),
  ];
  await forEachAtOnce(sources, ([source, cpu]) => {
    const args = [...FLAGS, '-O2', '-fno-sanitize=all', ...target, `-mcpu=${cpu}`, '-c', source];
    return zig(`Compiling ${source}`, [...args, '-o', join(folder, objectOf(source))], SOURCES);
  });
  const program = join(folder, 'kernels-test');
  const objects = sources.map(([source]) => join(folder, objectOf(source)));
  await zig('Linking the tests', [...target, ...objects, '-lm', '-o', program], SOURCES);
  return program;
}
