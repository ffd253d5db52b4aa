import type { ModelDescription } from '@ortler/model-builder';
import { describe, expect, it } from 'vitest';
import type { Inspection } from './inspection.ts';
import { showInspection } from './show-inspection.ts';

const MODEL: ModelDescription = {
  layout: 'safetensors',
  architecture: 'qwen3',
  shape: undefined,
  contextLength: 4_096,
  longRope: undefined,
  parameterCount: 1_000,
  weightBytes: 2_000,
  formats: [],
  tensors: [],
  graphs: [],
  built: undefined,
  cudaNorms: 'inside',
  fault: undefined,
};

function shown(model: Partial<ModelDescription>, variant: Inspection['variant'] = 'paged'): string {
  return showInspection({
    source: 'm',
    model: { ...MODEL, ...model },
    download: undefined,
    device: { device: 'webgpu', isFallback: false },
    variant,
    variantReason: undefined,
    precision: undefined,
    contextLength: 100,
    memory: [],
  } as Inspection);
}

describe('an inspection', () => {
  it('says that norms of queries and keys are inside the attention on CUDA', () => {
    expect(shown({})).toMatch(
      /^ {2}norms +of queries and keys: on CUDA inside the attention, elsewhere operators/m,
    );
  });

  it('says that norms over the whole width are operators of their own', () => {
    expect(shown({ cudaNorms: 'apart' })).toMatch(
      /^ {2}norms +of queries and keys: operators of their own, because/m,
    );
  });

  it.each([
    ['a model without them', shown({ cudaNorms: undefined })],
    ['a model that runs on the CPU', shown({}, 'kernels')],
    ['a model that cannot run', shown({ fault: 'no' })],
    ['a build for the CPU', shown({ built: { precision: 'q4', kvType: 'float16', variant: 'kernels' } })],
  ])('says nothing of norms for %s', (_, text) => {
    expect(text).not.toMatch(/norms/);
  });
});
