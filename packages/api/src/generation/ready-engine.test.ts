import { expect, it } from 'vitest';
import { createFakeEngine } from '../testing/fake-engine.ts';
import { createFakeServices } from '../testing/fake-services.ts';
import { openEngine } from './ready-engine.ts';

const { signal } = new AbortController();

it('gives the engine of a model that is ready', async () => {
  const engine = createFakeEngine();
  const model = createFakeServices({ a: engine }).models.find('a')!;
  expect((await openEngine(model, signal)).engine).toBe(engine);
});

it.each([
  [
    { kind: 'loading', detail: 'building, 10%' } as const,
    'The model a is still loading: building, 10%.',
    2_000,
  ],
  [
    { kind: 'restarting', detail: 'loading failed and is retried', retryAfterMs: 4_000 } as const,
    'The model a is not ready: loading failed and is retried.',
    4_000,
  ],
  [{ kind: 'failed', detail: '/secret/folder' } as const, 'The model a could not be loaded.', undefined],
])('refuses a model that is not, and says how it is: %#', async (status, message, retryAfterMs) => {
  const model = createFakeServices({ a: status }).models.find('a')!;
  await expect(openEngine(model, signal)).rejects.toMatchObject({
    reason: 'model_unavailable',
    message,
    retryAfterMs,
  });
});
