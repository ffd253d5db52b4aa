// Instruction sets of the CPU kernels, as options of benchmarks name them.

import type { KernelIsa } from '@ortler/onnxruntime';

const ISAS: readonly KernelIsa[] = ['amx', 'avx512', 'avxvnni', 'avx2', 'neon'];

/** Throws: for a name that is none. */
export function readIsa(option: string, text: string): KernelIsa {
  const isa = ISAS.find(name => name === text);
  if (isa === undefined) throw new Error(`--${option} is one of ${ISAS.join(', ')}; got "${text}".`);
  return isa;
}
