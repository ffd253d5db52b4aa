import type { EngineInfo } from '@ortler/engine';
import { describe, expect, it } from 'vitest';
import { describeDevice, describeModel, describeNotes } from './startup-report.ts';

describe('the line of the device', () => {
  it('is empty on a machine without a GPU', () => {
    expect(describeDevice({ device: 'cpu', note: 'This machine has no graphics device.' })).toBe('');
  });

  it('says why a GPU is not used', () => {
    const shown = describeDevice({
      device: 'cpu',
      note: 'The GPU cannot be used: no driver',
      isFallback: true,
    });
    expect(shown).toBe('  device   CPU: The GPU cannot be used: no driver\n');
  });

  it('names the GPU with its memory', () => {
    const facts = {
      device: 'webgpu',
      name: 'Some GPU',
      isSoftware: false,
      memoryBytes: 24 * 2 ** 30,
    } as const;
    expect(describeDevice({ device: 'webgpu', facts })).toBe('  device   webgpu: Some GPU (24.0 GiB)\n');
  });
});

const INFO: EngineInfo = {
  backend: 'native',
  runner: 'slots',
  device: 'cpu',
  vocabSize: 2560,
  contextLength: 2048,
  maxSequences: 8,
  onnxRuntimeVersion: 'none',
  weightBytes: 0,
  cacheBytes: 0,
  cacheBlockLength: 16,
  cacheBlockCount: 1_024,
  modelType: 'llama',
  precision: 'q8',
  kvType: 'float32',
  parameterCount: 4_790_000,
  eosTokenIds: [2],
  reasoningFormat: null,
  chatTemplate: '{{ messages }}',
  samplingDefaults: {},
};

describe('the line of a loaded model', () => {
  it('names architecture, size, precision, device and context', () => {
    expect(describeModel('demo', INFO)).toBe(
      '  model    demo: llama, 4.8 M parameters, q8, cpu (native), context 2048\n',
    );
  });

  it('names an int8 KV cache', () => {
    expect(describeModel('demo', { ...INFO, kvType: 'int8' })).toContain(
      ' q8, int8 KV cache, cpu (native), ',
    );
  });

  it('names the binding', () => {
    expect(describeModel('demo', { ...INFO, backend: 'node' })).toContain('cpu (node)');
  });
});

describe('the notes on a loaded model', () => {
  it('are none for a model that runs as it should', () => {
    expect(describeNotes(INFO)).toBe('');
  });

  it('say that chats need a template, and which template is broken', () => {
    expect(describeNotes({ ...INFO, chatTemplate: null })).toMatch(
      /^ {11}no chat template: chat requests need one of their own .*\n$/,
    );
    const templateNote = 'The chat template cannot be parsed at line 2: x.';
    expect(describeNotes({ ...INFO, templateNote })).toContain(
      `${templateNote} Chats with it fail; --chat-template FILE`,
    );
  });

  it('say which operators run on the CPU instead of the GPU, and why the slower binding is used', () => {
    const deviceNote = 'The device "webgpu" has no kernels for MatMulInteger (3).';
    const backendNote = 'No library. Using the other.';
    expect(describeNotes({ ...INFO, backendNote, deviceNote })).toBe(
      `           slower than it could be: ${backendNote}\n           slower than it could be: ${deviceNote}\n`,
    );
  });
});
