import type { OrtBackend, OrtSession, OrtValue } from '@ortler/onnxruntime';
import { createNativeBackend } from '@ortler/onnxruntime/testing';
import { expect, it } from 'vitest';
import { caseRow, caseStep, type SamplingCase } from '../../../../test/sampling-cases.ts';
import { Sampler } from '../sampler.ts';
import { largestCall, samplingMemoryBytes } from './call-sizes.ts';
import { DeviceSampler } from './device-sampler.ts';

const VOCAB_SIZE = 300;
const ROW_LIMIT = 5;

/** Tells of everything that sessions allocate. */
function watchAllocations(backend: OrtBackend, onAllocate: (value: OrtValue) => void): OrtBackend {
  const watched = (session: OrtSession): OrtSession =>
    new Proxy(session, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...values: unknown[]) => {
          const result = Reflect.apply(member, target, values);
          if (name === 'allocate') onAllocate(result as OrtValue);
          return result;
        };
      },
    });
  return new Proxy(backend, {
    get(target, name) {
      if (name === 'createSession')
        return async (...values: Parameters<OrtBackend['createSession']>) =>
          watched(await target.createSession(...values));
      const member = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

it('rounds rows up to what calls are prepared for', () => {
  expect([1, 5, 64, 119].map(largestCall)).toEqual([1, 6, 64, 64]);
});

it('says what the sampler keeps on the device, whatever it is asked', async () => {
  let bytes = 0;
  const native = createNativeBackend();
  const backend = watchAllocations(native, ({ shape }) => {
    bytes += 4 * shape.reduce((product, dimension) => product * dimension, 1);
  });
  const options = { threadCount: 1, spin: false, rowLimit: ROW_LIMIT } as const;
  const sampler = new DeviceSampler(new Sampler(VOCAB_SIZE), backend, options);
  const one = (seed: number): SamplingCase => ({
    kind: 'model',
    seed,
    params: { temperature: 1 },
    topLogprobCount: 3,
    edits: seed % 2 === 0 ? [] : ['bias', 'counts'],
  });
  for (let count = 1; count <= ROW_LIMIT; count++) {
    const cases = Array.from({ length: count }, (_, seed) => one(seed));
    const data = Float32Array.from(cases.flatMap(each => [...caseRow(each, VOCAB_SIZE)]));
    const value = native.createTensor('float32', [count, VOCAB_SIZE], data);
    const steps = cases.map(each => caseStep(each, VOCAB_SIZE));
    await sampler.answer(
      [{ value, rowCount: count }],
      steps.map((step, row) => ({ kind: 'draw', row, step })),
    );
  }
  expect(bytes).toBe(samplingMemoryBytes(VOCAB_SIZE, ROW_LIMIT));
  await sampler.dispose();
});
