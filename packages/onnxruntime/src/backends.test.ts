import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OrtBackend } from './backend.ts';
import { takenDevice } from './device-facts.ts';
import { findOrtLibrary } from './find-library.ts';
import { createNativeBackend } from './native-backend.ts';
import { createNodeBackend } from './node-backend.ts';
import { selectBackend } from './select-backend.ts';
import { ORT_BACKEND_CONFORMANCE } from './testing/ort-backend-conformance.ts';
import { identityModel } from './testing/tiny-graphs.ts';
import type { VulkanDevice } from './vulkan-devices.ts';

const BACKENDS: Readonly<Record<string, () => Promise<OrtBackend>>> = {
  native: async () => createNativeBackend(),
  node: createNodeBackend,
};

/** Rules that a backend cannot keep, with the reason. */
const SKIPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  node: { 'carries float16 unchanged': 'onnxruntime-node 1.30 loses Float16Arrays on Node 24' },
};

describe.each(Object.entries(BACKENDS))('the %s backend', (name, create) => {
  it.each(ORT_BACKEND_CONFORMANCE)('$name', async ({ name: rule, check }) => {
    const reason = SKIPS[name]?.[rule];
    if (reason === undefined) await check(await create());
    else await expect(check(await create()), reason).rejects.toMatchObject({ code: 'runtime_failed' });
  });

  it('carries its name and the version of the installed package', async () => {
    const backend = await create();
    expect(backend.name).toBe(name);
    expect(backend.version).toBe(findOrtLibrary().version);
  });
});

describe('the node backend', () => {
  it('refuses devices and says which binding has them', async () => {
    const backend = await createNodeBackend();
    const options = { threadCount: 1, spin: false, device: 'webgpu' } as const;
    await expect(backend.createSession(identityModel(), options)).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringMatching(/"webgpu"; the native binding can/),
    });
  });
});

describe('the native backend', () => {
  const cudaLibrary = join(dirname(findOrtLibrary().file), 'libonnxruntime_providers_cuda.so');

  it.skipIf(existsSync(cudaLibrary))('says that a provider without libraries cannot be used', async () => {
    const options = { threadCount: 1, spin: false, device: 'cuda' } as const;
    await expect(createNativeBackend().createSession(identityModel(), options)).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringMatching(/^The device "cuda" cannot be used: /),
    });
  });
});

describe('kernels', () => {
  it('are those of the best instruction set of this CPU', async () => {
    const { backend } = await selectBackend('native');
    expect(backend.kernels).toEqual({ isa: expect.stringMatching(/^(amx|avx512|avxvnni|avx2|neon)$/) });
  });

  it('are left out where they are switched off', async () => {
    const { backend } = await selectBackend('native', { kernels: 'off' });
    expect(backend.kernels).toEqual({ missing: 'they are switched off' });
  });

  it('cannot be loaded by the stock binding, which says so', async () => {
    const { backend } = await selectBackend('node');
    expect(backend.kernels).toEqual({ missing: expect.stringMatching(/loads no operators/) });
  });

  it.each(['native', 'auto'] as const)('for a foreign CPU are refused by the %s binding', async choice => {
    const kernels = process.arch === 'arm64' ? 'avx2' : 'neon';
    await expect(selectBackend(choice, { kernels })).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringMatching(`does not run kernels for "${kernels}". It runs those for: `),
    });
  });

  it('that are named are refused with the stock binding', async () => {
    const kernels = process.arch === 'arm64' ? 'neon' : 'avx2';
    await expect(selectBackend('node', { kernels })).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringMatching(/the native binding has/),
    });
  });
});

describe('takenDevice', () => {
  const device = (name: string, kind: VulkanDevice['kind']): VulkanDevice => ({
    name,
    kind,
    memoryBytes: 1,
    maxTensorBytes: 1,
  });

  it('is the first of the kind that computes fastest', () => {
    const [software, shared, first, second] = [
      device('software', 'cpu'),
      device('shared', 'integrated'),
      device('first', 'discrete'),
      device('second', 'discrete'),
    ];
    expect(takenDevice([software, shared, first, second])).toBe(first);
    expect(takenDevice([software, shared])).toBe(shared);
    expect(takenDevice([software])).toBe(software);
    expect(takenDevice([])).toBeUndefined();
  });
});

describe('findOrtLibrary', () => {
  it.each([
    ['linux', 'x64', /libonnxruntime\.so\.1$/],
    ['linux', 'arm64', /libonnxruntime\.so\.1$/],
    ['darwin', 'arm64', /libonnxruntime\.\d+\.\d+\.\d+\.dylib$/],
    ['win32', 'x64', /onnxruntime\.dll$/],
    ['win32', 'arm64', /onnxruntime\.dll$/],
  ])('finds the library for %s %s', (platform, arch, pattern) => {
    expect(findOrtLibrary(platform, arch).file).toMatch(pattern);
  });

  it('refuses Linux with musl by name, and there alone', () => {
    expect(() => findOrtLibrary('linux', 'x64', () => true)).toThrow(/musl, such as Alpine.*needs glibc/);
    expect(findOrtLibrary('win32', 'x64', () => true).file).toMatch(/onnxruntime\.dll$/);
  });

  it('names the missing file for a platform without one', () => {
    expect(() => findOrtLibrary('darwin', 'x64')).toThrow(/no library for darwin x64.*is missing/);
  });
});

describe('selectBackend', () => {
  const fake = (name: 'native' | 'node'): OrtBackend => ({
    name,
    version: '1.2.3',
    kernels: { missing: 'a fake has none' },
    createSession: () => Promise.reject(new Error('not used')),
    createTensor: () => {
      throw new Error('not used');
    },
    allocateZeros: byteLength => new Uint8Array(byteLength),
    copy: () => Promise.reject(new Error('not used')),
    describeDevice: device => ({ device }),
  });
  const broken = async (): Promise<OrtBackend> => {
    throw new Error('no prebuilt code for this platform.');
  };
  const BOTH = { native: async () => fake('native'), node: async () => fake('node') };
  const NATIVE_BROKEN = { ...BOTH, native: broken };

  it('takes the native binding without a note where it loads', async () => {
    const selected = await selectBackend('auto', {}, BOTH);
    expect(selected).toEqual({ backend: expect.objectContaining({ name: 'native' }) });
  });

  it('settles for the stock binding and says why', async () => {
    const { backend, note } = await selectBackend('auto', {}, NATIVE_BROKEN);
    expect(backend.name).toBe('node');
    expect(note).toContain('no prebuilt code for this platform.');
  });

  it('does not settle for the stock binding where kernels are named', async () => {
    const selected = selectBackend('auto', { kernels: 'avx2' }, NATIVE_BROKEN);
    await expect(selected).rejects.toMatchObject({ code: 'runtime_failed' });
  });

  it('does not replace a binding that was asked for by name', async () => {
    await expect(selectBackend('native', {}, NATIVE_BROKEN)).rejects.toMatchObject({
      code: 'runtime_failed',
    });
  });
});
