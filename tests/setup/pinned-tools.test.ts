// What the set-up does when the registry has another tarball under the version of a pinned tool: npm refuses it by its hash.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PINNED_PNPM, toLockedManifests } from '../../scripts/setup/pinned-tools.mjs';

const run = promisify(execFile);

it('refuses a tool whose tarball on the registry was replaced, and takes none of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ortler-pinned-'));
  const { name, version } = PINNED_PNPM;
  const tools = join(folder, 'tools');
  const replaced = join(folder, 'replaced');
  await mkdir(tools);
  await mkdir(replaced);
  await writeFile(join(replaced, 'package.json'), JSON.stringify({ name, version }));
  await run('npm', ['pack', '--pack-destination', folder], { cwd: replaced });
  const file = `${name}-${version}.tgz`;
  const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>();
  const tarball = await readFile(join(folder, file));
  const registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) {
      noteAsked();
      response.end(tarball);
      return;
    }
    const dist = { tarball: `http://${request.headers.host}/${name}/-/${file}` };
    response.end(JSON.stringify({ name, versions: { [version]: { name, version, dist } } }));
  });
  await new Promise<void>(resolve => registry.listen(0, '127.0.0.1', resolve));
  try {
    const { manifest, lock } = toLockedManifests([PINNED_PNPM]);
    await writeFile(join(tools, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(tools, 'package-lock.json'), JSON.stringify(lock));
    const address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
    const install = run(
      'npm',
      ['ci', '--ignore-scripts', '--no-audit', '--fetch-retries=0', '--registry', address],
      {
        cwd: tools,
        env: { ...process.env, npm_config_cache: join(folder, 'cache') },
      },
    );
    await expect(install).rejects.toThrow('EINTEGRITY');
    await asked;
    expect(existsSync(join(tools, 'node_modules', name))).toBe(false);
  } finally {
    registry.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 60_000);
