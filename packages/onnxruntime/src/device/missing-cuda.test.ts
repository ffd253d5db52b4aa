import { describe, expect, it } from 'vitest';
import { type CudaEnvironment, describeMissingCuda } from './missing-cuda.ts';

const COMPLETE: CudaEnvironment = {
  platform: 'linux',
  arch: 'x64',
  libraryFile: '/ort/libonnxruntime.so.1',
  hasFile: () => true,
  hasLibrary: () => true,
};

describe('describeMissingCuda', () => {
  it('has nothing to say where everything is there', () => {
    expect(describeMissingCuda(COMPLETE)).toBeUndefined();
  });

  it('names each missing file and how to get it', () => {
    const message = describeMissingCuda({
      ...COMPLETE,
      hasFile: file => file !== '/ort/libonnxruntime_providers_cuda.so',
      hasLibrary: name => !name.startsWith('libcu'),
    });
    expect(message).toContain('libonnxruntime_providers_cuda.so in /ort: "ONNXRUNTIME_NODE_INSTALL=cuda12');
    expect(message).not.toContain('providers_shared');
    expect(message).toContain("libcuda.so.1: it comes with NVIDIA's display driver");
    expect(message).toContain(
      'libcudart.so.12, libcublas.so.12, libcublasLt.so.12, libcufft.so.11 and libcudnn.so.9',
    );
  });

  it('says where there is no provider at all', () => {
    expect(describeMissingCuda({ ...COMPLETE, platform: 'darwin' })).toMatch(/needs Linux on x64.*webgpu/);
  });
});
