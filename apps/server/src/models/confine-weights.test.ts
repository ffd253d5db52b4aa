import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findOutside } from './confine-weights.ts';

let root: string;
let acme: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'ortler-confine-')));
  acme = join(root, 'acme');
  for (const folder of ['acme/w', 'acme/shared', 'acme/linked', 'acme/borrowed', 'acme/broken', 'beta/w'])
    await mkdir(join(root, folder), { recursive: true });
  for (const file of ['acme/w/config.json', 'acme/shared/blob', 'beta/w/model.safetensors'])
    await writeFile(join(root, file), '');
  await symlink('../shared/blob', join(acme, 'linked/model.safetensors'));
  await symlink('../../beta/w/model.safetensors', join(acme, 'borrowed/model.safetensors'));
  await symlink('../../gone', join(acme, 'broken/model.safetensors'));
});
afterAll(() => rm(root, { recursive: true }));

it.each([
  ['w', undefined],
  ['linked', undefined],
  ['borrowed', 'model.safetensors'],
  ['broken', 'model.safetensors'],
  ['nowhere', undefined],
])('finds in %s the file that leaves the folder of the team: %s', async (name, found) => {
  expect(await findOutside(join(acme, name), [acme, root])).toBe(found);
});

it('confines weights outside every root to their own folder', async () => {
  expect(await findOutside(join(acme, 'w'), [join(root, 'beta')])).toBeUndefined();
  expect(await findOutside(join(acme, 'linked'), [join(root, 'beta')])).toBe('model.safetensors');
});

it.skipIf(process.platform === 'win32')('finds what is no file', async () => {
  const folder = join(acme, 'pipe');
  await mkdir(folder);
  const socket = await new Promise<Server>(resolve => {
    const server = createServer().listen(join(folder, 'config.json'), () => resolve(server));
  });
  expect(await findOutside(folder, [acme, root])).toBe('config.json');
  socket.close();
});
