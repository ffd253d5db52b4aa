import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from './imports.ts';

/** Folders whose pages count, and groups of folders with a README each. */
const FOLDERS = [
  '.',
  'docs',
  'docs/adr',
  'bench',
  'bench/history',
  'bench/model-builder',
  'bench/peers',
  'models/demo',
  'tests',
];
const GROUPS = ['packages', 'apps', 'examples'];

/** Documents for people: the paths of all Markdown pages. */
export function pages(): readonly string[] {
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
