// Libraries of kernels that cannot be used: each is a reason, never a failure, unless an instruction set is asked for by name.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findKernelLibrary } from '@ortler/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadCApi } from './c-api.ts';
import { findOrtLibrary } from './find-library.ts';
import { findBestIsa, loadKernelOperators } from './kernel-operators.ts';

const own = findKernelLibrary();
const reason = 'missing' in own ? own.missing : undefined;

describe.skipIf(reason !== undefined)(`a library of kernels, ${reason ?? 'here'}`, () => {
  let folder: string;
  let copied: string;
  let broken: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ortler-kernels-'));
    [copied, broken] = [join(folder, 'copied'), join(folder, 'broken')];
    if ('file' in own) await copyFile(own.file, copied);
    await writeFile(broken, 'not a library');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is used when its hash is that of the sources', () => {
    const hash = 'hash' in own ? own.hash : '';
    expect(findBestIsa({ file: copied, hash })).toEqual({ isa: expect.any(String) });
  });

  it('is not used when it was built from other sources', async () => {
    const other = join(folder, 'other');
    await copyFile(copied, other);
    expect(findBestIsa({ file: other, hash: '0123456789abcdef' })).toEqual({
      missing: expect.stringMatching(/^the library other was built from other sources \([0-9a-f]{16}\)$/),
    });
  });

  it('that is none is a reason without paths of the machine', () => {
    const found = findBestIsa({ file: broken, hash: '' });
    expect(found).toEqual({ missing: expect.stringMatching(/^the library broken cannot be loaded \(/) });
    expect(JSON.stringify(found)).not.toContain(folder);
  });

  it('is a failure when an instruction set is asked for by name', () => {
    const { file, version } = findOrtLibrary();
    const api = loadCApi(file, version);
    const library = { missing: 'there are no kernels for this test' };
    expect(loadKernelOperators(api, 'auto', library)).toEqual(library);
    expect(() => loadKernelOperators(api, 'avx2', library)).toThrow(
      'Kernels for avx2 cannot be used: there are no kernels for this test.',
    );
  });
});

it('platforms without a library have a reason', () => {
  expect(findKernelLibrary('sunos-x64')).toEqual({ missing: 'there are no kernels for sunos-x64' });
  expect(findBestIsa(findKernelLibrary('sunos-x64'))).toEqual({
    missing: 'there are no kernels for sunos-x64',
  });
});
