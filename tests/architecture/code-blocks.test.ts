// The TypeScript of all pages compiles as it stands, each block as a program of its own. tests/setup/readme-examples.test.ts
// runs those that need neither a model nor a server.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REPOSITORY } from './imports.ts';
import { pages } from './pages.ts';

const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc');

/** Blocks of a page, by the names of their files, each at the line of the page that it begins at. */
function blocksOf(page: string): readonly (readonly [string, string])[] {
  const text = readFileSync(join(REPOSITORY, page), 'utf8');
  return [...text.matchAll(/^```(?:ts|typescript)\n(.*?)^```$/gms)].map(({ index, 1: code = '' }) => {
    const line = text.slice(0, index).split('\n').length;
    return [`${page.replaceAll(/\W/g, '-')}-${line}.ts`, '\n'.repeat(line) + code];
  });
}

test('blocks of TypeScript on all pages compile', () => {
  // Decision records show code as it was.
  const blocks = pages()
    .filter(page => !page.startsWith('docs/adr'))
    .flatMap(blocksOf);
  expect(blocks.length).toBeGreaterThan(30);
  // In tests/, which depends on all packages and on the clients that pages show.
  const parent = join(REPOSITORY, 'tests/.cache');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'code-blocks-'));
  try {
    for (const [file, source] of blocks) writeFileSync(join(folder, file), source);
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: { noEmit: true, noUnusedLocals: false, moduleDetection: 'force' },
      include: [],
      files: blocks.map(([file]) => file),
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const { stdout, stderr } = spawnSync(process.execPath, [TSC, '-p', '.'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stdout + stderr).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
