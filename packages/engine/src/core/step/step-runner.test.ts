import { expect, it } from 'vitest';
import { computeAndMask } from './step-runner.ts';

it('fails only when the model call has ended, also where masks cannot be filled', async () => {
  const call = Promise.withResolvers<Float32Array>();
  const order: string[] = [];
  const step = computeAndMask(call.promise, () => {
    order.push('masks');
    throw new Error('no masks');
  }).catch((error: Error) => order.push(error.message));
  await new Promise(setImmediate);
  order.push('call ends');
  call.resolve(new Float32Array(0));
  await step;
  expect(order).toEqual(['masks', 'call ends', 'no masks']);
});

it('throws the error of the model call where both fail', async () => {
  const step = computeAndMask(Promise.reject(new Error('lost')), () => {
    throw new Error('no masks');
  });
  await expect(step).rejects.toThrow('lost');
});
