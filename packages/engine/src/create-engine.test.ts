import { expect, test } from 'vitest';
import { createEngine } from './create-engine.ts';

test('a path that is not a folder is named', async () => {
  await expect(createEngine({ modelDir: '/no/such/model' })).rejects.toMatchObject({
    code: 'model_invalid',
    message: expect.stringContaining('/no/such/model'),
  });
});

test('an option out of range is refused before the folder is read', async () => {
  const options = { modelDir: '/no/such/model', maxSequences: 0 };
  await expect(createEngine(options)).rejects.toMatchObject({
    code: 'model_invalid',
    parameter: 'maxSequences',
  });
});
