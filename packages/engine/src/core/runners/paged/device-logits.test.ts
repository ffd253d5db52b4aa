import { encodeGraph } from '@ortler/onnx';
import { addGraph, createNativeBackend } from '@ortler/onnxruntime/testing';
import { expect, it } from 'vitest';
import { LogitsStore, logitsMemoryBytes } from './device-logits.ts';

it.each([
  [undefined, 16],
  [16 * 4 * 10, 16],
  // One byte less than the largest: every size has memory of its own.
  [16 * 4 * 10 - 1, 31],
])('keeps logits of a device that reaches %s bytes in %i rows', async (maxTensorBytes, rowCount) => {
  const backend = createNativeBackend();
  const session = await backend.createSession(encodeGraph(addGraph()), { threadCount: 1, spin: false });
  const sizes: number[] = [];
  const counted = new Proxy(session, {
    get(target, name) {
      if (name !== 'allocate') return Reflect.get(target, name).bind(target);
      return (...values: Parameters<typeof session.allocate>) => {
        sizes.push(values[1][0]!);
        return target.allocate(...values);
      };
    },
  });
  const shape = { vocabSize: 10, rowLimit: 9, maxTensorBytes };
  const store = new LogitsStore(backend, counted, shape);
  expect(sizes.reduce((sum, rows) => sum + rows, 0)).toBe(rowCount);
  expect(logitsMemoryBytes(shape)).toBe(rowCount * 4 * 10);
  expect(store.valueOf(0, 4).shape).toEqual([4, 10]);
  store.dispose();
  session.dispose();
});
