import { expect, it } from 'vitest';
import { Sampler } from '../sampling/sampler.ts';
import { createHostStepSampler } from './step-runner.ts';

it('fails only when the model call has ended, also where masks cannot be filled', async () => {
  const call = Promise.withResolvers<Float32Array>();
  const stepSampler = createHostStepSampler({ run: () => call.promise }, new Sampler(8));
  const order: string[] = [];
  const step = stepSampler
    .sample({ rows: [] }, () => {
      order.push('masks');
      throw new Error('no masks');
    })
    .catch((error: Error) => order.push(error.message));
  await new Promise(setImmediate);
  order.push('call ends');
  call.resolve(new Float32Array(0));
  await step;
  expect(order).toEqual(['masks', 'call ends', 'no masks']);
});

it('tells of the model call where both fail', async () => {
  const stepSampler = createHostStepSampler({ run: () => Promise.reject(new Error('lost')) }, new Sampler(8));
  const step = stepSampler.sample({ rows: [] }, () => {
    throw new Error('no masks');
  });
  await expect(step).rejects.toThrow('lost');
});
