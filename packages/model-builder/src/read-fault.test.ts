import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../test/temporary-folder.ts';
import { ensureModel } from './ensure-model.ts';
import { describeModel } from './inspect/describe-model.ts';
import { checkReadable, readFault } from './read-fault.ts';
import { createTinyCheckpoint } from './testing/tiny-model.ts';

const folder = temporaryFolder();

it('says that there is nothing, that reading is denied, or what failed', async () => {
  const missing = join(folder, 'missing');
  await expect(checkReadable(missing)).rejects.toMatchObject({
    code: 'source_invalid',
    message: `${missing} does not exist`,
  });
  const failed = (code: string) => readFault('/model', Object.assign(new Error(code), { code }));
  expect(failed('EACCES')).toMatchObject({
    code: 'source_unreadable',
    message: '/model may not be read by this user',
  });
  expect(failed('EIO').message).toBe('/model cannot be read (EIO)');
});

it('lets folders and files pass that can be read', async () => {
  await mkdir(join(folder, 'open'));
  await writeFile(join(folder, 'open', 'file'), '');
  await checkReadable(join(folder, 'open'));
  await checkReadable(join(folder, 'open', 'file'));
});

// Root may read everything.
describe.skipIf(process.getuid?.() === 0)('a checkpoint that this user may not read', () => {
  it.each(['model.safetensors', 'tokenizer.json'])('is named by its file %s', async name => {
    const sourceDir = join(folder, name);
    await createTinyCheckpoint(sourceDir);
    await chmod(join(sourceDir, name), 0);
    const building = ensureModel({ sourceDir, cacheDir: join(folder, 'cache'), precision: 'f32' });
    await expect(building).rejects.toMatchObject({
      code: 'source_unreadable',
      message: `${join(sourceDir, name)} may not be read by this user`,
    });
  });

  it.each([0o000, 0o444])('is not said to lack files (mode %o)', async mode => {
    const sourceDir = join(folder, `mode-${mode}`);
    await createTinyCheckpoint(sourceDir);
    await chmod(sourceDir, mode);
    const expected = { code: 'source_unreadable', message: `${sourceDir} may not be read by this user` };
    const building = ensureModel({ sourceDir, cacheDir: join(folder, 'cache'), precision: 'f32' });
    await expect(building).rejects.toMatchObject(expected);
    await expect(describeModel(sourceDir, { variant: 'kernels' })).rejects.toMatchObject(expected);
    await chmod(sourceDir, 0o755);
  });
});
