import type { OrtBackend } from '@ortler/onnxruntime';
import { createNativeBackend } from '@ortler/onnxruntime/testing';
import { expect, it } from 'vitest';
import { DeviceCalls } from './device-calls.ts';
import { rowShape } from './row-shape.ts';

it('loads a graph again whose first load failed, and is disposed after one that failed', async () => {
  const native = createNativeBackend();
  let isOutOfMemory = true;
  const backend: Pick<OrtBackend, 'createSession' | 'createTensor'> = {
    createSession: async (...values) => {
      if (isOutOfMemory) throw new Error('The device is out of memory.');
      return native.createSession(...values);
    },
    createTensor: (...values) => native.createTensor(...values),
  };
  const vocabSize = 4;
  const shape = { ...rowShape(vocabSize), candidateCount: 2, logprobCount: 2, rowLimit: 1 };
  const calls = new DeviceCalls(backend as OrtBackend, { threadCount: 1, spin: false }, shape);
  const logits = native.createTensor('float32', [1, vocabSize], Float32Array.of(1, 2, 3, 4));
  await expect(calls.read(logits, 1)).rejects.toThrow('out of memory');
  isOutOfMemory = false;
  const call = await calls.read(logits, 1);
  await call.run();
  expect(call.arrays.get('row')).toEqual(Float32Array.of(1, 2, 3, 4));
  isOutOfMemory = true;
  const features = { mask: false, allowed: false, edits: false, penalties: false };
  const reduce = { ...features, weightSums: false, logprobs: false };
  await expect(calls.reduce(logits, reduce, { rowCount: 1, editCount: 1 })).rejects.toThrow('out of memory');
  await expect(calls.dispose()).resolves.toBeUndefined();
});
