// Asks which kernels this CPU runs before a model is built, because a graph is built for them.

import type { KernelsInUse } from './backend.ts';

/** The FFI library is imported on demand, because that throws on platforms without a prebuilt binary. */
export async function probeKernels(): Promise<KernelsInUse> {
  try {
    const { findBestIsa } = await import('./kernel-operators.ts');
    return findBestIsa();
  } catch (cause) {
    return { missing: cause instanceof Error ? cause.message : String(cause) };
  }
}
