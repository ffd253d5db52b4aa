// Instruction sets of the kernels that this CPU has: tests run with each of them.

import { type KernelIsa, OrtError, selectBackend } from '@ortler/onnxruntime';

const ISAS: readonly KernelIsa[] = ['amx', 'avx512', 'avxvnni', 'avx2', 'neon'];

/** Throws: where none can be used, with the reason. */
async function readInstructionSets(): Promise<readonly KernelIsa[]> {
  const { kernels } = (await selectBackend('native')).backend;
  if ('missing' in kernels) throw new Error(`Kernels cannot be tested: ${kernels.missing}.`);
  const usable = await Promise.all(ISAS.map(async isa => ({ isa, isUsable: await canUse(isa) })));
  return usable.filter(({ isUsable }) => isUsable).map(({ isa }) => isa);
}

async function canUse(isa: KernelIsa): Promise<boolean> {
  try {
    const { kernels } = (await selectBackend('native', { kernels: isa })).backend;
    return 'isa' in kernels && kernels.isa === isa;
  } catch (cause) {
    if (cause instanceof OrtError && cause.message.includes('This CPU does not run')) return false;
    throw cause;
  }
}

export const INSTRUCTION_SETS = await readInstructionSets();
