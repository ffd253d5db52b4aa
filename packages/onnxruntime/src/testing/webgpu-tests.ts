// Whether tests of the WebGPU provider can run here. They need a Vulkan, Direct3D or Metal driver; a software one does.

import { selectBackend } from '../select-backend.ts';
import { identityModel } from './tiny-graphs.ts';

/** Set to `required` where a skipped GPU test is a failure. */
const REQUIREMENT = 'TEST_GPU';

/**
 * Why the tests of this file are left out, or undefined when they run. It loads the provider, so the file that asks has
 * a process of its own. Throws: instead of giving a reason, where the tests are required.
 */
export async function whyNoWebGpu(): Promise<string | undefined> {
  try {
    const { backend } = await selectBackend('native');
    const options = { threadCount: 1, spin: false, device: 'webgpu' } as const;
    (await backend.createSession(identityModel(), options)).dispose();
    return undefined;
  } catch (error) {
    if (process.env[REQUIREMENT] === 'required') throw error;
    return error instanceof Error ? error.message : String(error);
  }
}
