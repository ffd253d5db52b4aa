import { expect, test } from 'vitest';
import { loadCore } from './load-core.ts';

test('names the file that is missing from a model folder', async () => {
  await expect(loadCore({ modelDir: 'no-such-folder' })).rejects.toMatchObject({
    code: 'model_invalid',
    message: expect.stringContaining('no-such-folder'),
  });
});
