import { expect, it } from 'vitest';
import { createServerDevice } from './server-device.ts';

it('is chosen once, by the first model that asks', async () => {
  const reported: string[] = [];
  let count = 0;
  const device = createServerDevice(
    'auto',
    choice => reported.push(choice.device),
    async () => {
      count++;
      return { device: 'cpu', note: 'no GPU' };
    },
  );
  expect(device.chosen).toBeUndefined();
  await Promise.all([device.choose(), device.choose()]);
  expect(device.chosen).toEqual({ device: 'cpu', note: 'no GPU' });
  expect({ count, reported }).toEqual({ count: 1, reported: ['cpu'] });
});
