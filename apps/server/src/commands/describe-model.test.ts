import type { EngineInfo } from '@ortler/engine';
import { expect, test } from 'vitest';
import { describeModel } from './describe-model.ts';

const INFO: EngineInfo = {
  backend: 'native',
  runner: 'slots',
  device: 'cpu',
  vocabSize: 2560,
  contextLength: 2048,
  maxSequences: 8,
  onnxRuntimeVersion: 'none',
  modelType: 'llama',
  precision: 'q8',
  kvType: 'float32',
  parameterCount: 4_790_000,
  eosTokenIds: [2],
  reasoningFormat: null,
  chatTemplate: '{{ messages }}',
  samplingDefaults: {},
};

test('a model that is ready is one line', () => {
  expect(describeModel('demo', INFO)).toBe(
    '  model    demo: llama, 4.8 M parameters, q8, cpu (native), context 2048\n',
  );
});

test('a cache of 8 bits is told', () => {
  expect(describeModel('demo', { ...INFO, kvType: 'int8' })).toContain(' q8, 8-bit cache, cpu (native), ');
});

test('a model that leaves work on the processor says which', () => {
  const deviceNote = 'The device "webgpu" has no kernels for MatMulInteger (3).';
  expect(describeModel('demo', { ...INFO, device: 'webgpu', deviceNote })).toContain(
    `slower than it could be: ${deviceNote}`,
  );
});

test('a model on the slower binding says so and why', () => {
  const shown = describeModel('demo', {
    ...INFO,
    backend: 'node',
    backendNote: 'No library. Using the other.',
  });
  expect(shown).toContain('cpu (node)');
  expect(shown).toContain('slower than it could be: No library. Using the other.');
});
