import { expect, it } from 'vitest';
import { describeDevice } from './describe-device.ts';

it('says nothing where the processor is all there is', () => {
  expect(describeDevice({ device: 'cpu', note: 'This machine has no graphics device.' })).toBe('');
});

it('tells why a GPU is not used', () => {
  const shown = describeDevice({
    device: 'cpu',
    note: 'The GPU cannot be used: no driver',
    isFallback: true,
  });
  expect(shown).toBe('  device   processor: The GPU cannot be used: no driver\n');
});

it('names the GPU with its memory', () => {
  const facts = { device: 'webgpu', name: 'Some GPU', isSoftware: false, memoryBytes: 24 * 2 ** 30 } as const;
  expect(describeDevice({ device: 'webgpu', facts })).toBe('  device   webgpu: Some GPU (24.0 GiB)\n');
});
