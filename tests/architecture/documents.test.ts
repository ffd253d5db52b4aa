// Documents for people: what they point to is there.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REPOSITORY } from './imports.ts';

/** Folders whose pages count, and groups of folders with a README each. */
const FOLDERS = ['.', 'docs', 'docs/adr', 'bench', 'bench/model-builder', 'models/demo'];
const GROUPS = ['packages', 'apps', 'examples'];

function pages(): readonly string[] {
  const folders = [
    ...FOLDERS,
    ...GROUPS.flatMap(group => readdirSync(join(REPOSITORY, group)).map(name => join(group, name))),
  ];
  return folders.flatMap(folder =>
    readdirSync(join(REPOSITORY, folder))
      .filter(name => name.endsWith('.md'))
      .map(name => join(folder, name)),
  );
}

/** Targets of links to files, without the places inside them. */
function linksOf(page: string): readonly string[] {
  const text = readFileSync(join(REPOSITORY, page), 'utf8').replace(/^```.*?^```/gms, '');
  const found = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return found.map(match => match[1]!.replace(/#.*$/, '')).filter(link => link !== '' && !/^\w+:/.test(link));
}

describe('documents', () => {
  test('link to files that exist', () => {
    const links = pages().flatMap(page => linksOf(page).map(link => ({ page, link })));
    expect(links.length).toBeGreaterThan(50);
    const broken = links.filter(({ page, link }) => !existsSync(join(REPOSITORY, dirname(page), link)));
    expect(broken).toEqual([]);
  });
});
