// Documents for people: what they point to is there.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REPOSITORY, sourceFiles } from './imports.ts';
import { pages } from './pages.ts';

/** The text of a page without its blocks of code. */
function proseOf(page: string): string {
  return readFileSync(join(REPOSITORY, page), 'utf8').replace(/^```.*?^```/gms, '');
}

/** Where the links of a page lead within the repository: to a file, and to a heading of it unless that is undefined. */
function linksOf(page: string): readonly { readonly file: string; readonly heading: string | undefined }[] {
  const text = proseOf(page);
  const found = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return found
    .map(match => match[1]!)
    .filter(link => !/^\w+:/.test(link))
    .map(link => {
      const [path = '', heading] = link.split('#');
      return { file: path === '' ? page : join(dirname(page), path), heading };
    });
}

/** Names of the headings of a page in links, as GitHub makes them. */
function headingsOf(page: string): readonly string[] {
  const counts = new Map<string, number>();
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title]) => {
    const name = title!
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
}

/** Names of all TypeScript files of the repository, without their folders. */
function sourceNames(): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !/^(node_modules|dist|\..*)$/.test(entry.name))
        visit(join(folder, entry.name));
      else if (/\.tsx?$/.test(entry.name)) names.add(entry.name);
    }
  };
  visit(REPOSITORY);
  return names;
}

/** A decision record as its row of the index shows it. Its file is named by its number. */
function recordRow(name: string) {
  const text = readFileSync(join(REPOSITORY, 'docs/adr', name), 'utf8');
  const [, digits, title] = /^# (\d{4})\. (.+)\n/.exec(text) ?? [];
  const status = /^Date: \d{4}-\d{2}-\d{2}[^#]*?\bStatus: (\w+)/m.exec(text)?.[1];
  expect(name.startsWith(`${digits}-`), name).toBe(true);
  return { number: Number(digits), title, name, status };
}

describe('documents', () => {
  test('link to files that exist', () => {
    const links = pages().flatMap(page => linksOf(page).map(link => ({ page, link })));
    expect(links.length).toBeGreaterThan(50);
    expect(links.filter(({ link }) => !existsSync(join(REPOSITORY, link.file)))).toEqual([]);
  });

  test('link to headings that exist', () => {
    const links = pages().flatMap(page => linksOf(page).map(link => ({ page, link })));
    const places = links.filter(({ link }) => link.heading !== undefined);
    expect(places.length).toBeGreaterThan(10);
    expect(places.filter(({ link }) => !headingsOf(link.file).includes(link.heading!))).toEqual([]);
  });

  test('name decision records that exist, as comments do', () => {
    const numbers = new Set(readdirSync(join(REPOSITORY, 'docs/adr')).map(name => Number(name.slice(0, 4))));
    const named = [...pages(), ...sourceFiles()].flatMap(file =>
      [...readFileSync(join(REPOSITORY, file), 'utf8').matchAll(/\bADR (\d+)/g)].map(([, number]) => ({
        file,
        number: Number(number),
      })),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ number }) => !numbers.has(number))).toEqual([]);
  });

  test('list every decision record in the index, by its number, title and status, and nothing else', () => {
    const records = readdirSync(join(REPOSITORY, 'docs/adr'))
      .filter(name => name !== 'README.md')
      .sort()
      .map(recordRow);
    const index = readFileSync(join(REPOSITORY, 'docs/adr/README.md'), 'utf8');
    const rows = [...index.matchAll(/^\| (\d+) +\| \[(.+?)\]\((\S+?)\) +\| (\w+)[^|]*\| \S/gm)].map(
      ([, number, title, name, status]) => ({ number: Number(number), title, name, status }),
    );
    expect(rows.length).toBeGreaterThan(30);
    expect(rows).toEqual(records);
    expect(index.match(/^\|/gm)).toHaveLength(rows.length + 2);
  });

  test('open and close every block of code alike', () => {
    const fences = pages().map(page => ({
      page,
      fences: readFileSync(join(REPOSITORY, page), 'utf8').match(/^`{3,}/gm) ?? [],
    }));
    const odd = fences.filter(
      ({ fences }) => fences.length % 2 !== 0 || fences.some(fence => fence.length > 3),
    );
    expect(odd).toEqual([]);
  });

  // Decision records tell of files as they were.
  test('name source files that exist', () => {
    const names = sourceNames();
    const named = pages()
      .filter(page => !page.startsWith('docs/adr'))
      .flatMap(page => {
        const text = readFileSync(join(REPOSITORY, page), 'utf8');
        return [...text.matchAll(/(?<![\w*{},.-])[a-z][\w-]*(?:\.[a-z]+)*\.ts\b/g)].map(([name]) => ({
          page,
          name,
        }));
      });
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter(({ name }) => !names.has(name))).toEqual([]);
  });
});

test('the README of api lists the tarballs that its client needs', () => {
  const needed = new Set<string>();
  const visit = (name: string) => {
    if (needed.has(name)) return;
    needed.add(name);
    const manifest = readFileSync(join(REPOSITORY, 'packages', name, 'package.json'), 'utf8');
    for (const other of Object.keys(JSON.parse(manifest).dependencies ?? {}))
      if (other.startsWith('@ortler/')) visit(other.slice('@ortler/'.length));
  };
  visit('api');
  const text = readFileSync(join(REPOSITORY, 'packages/api/README.md'), 'utf8');
  const [, list = ''] = /install tarballs[^:]*: those of (.*?), and `@trpc/s.exec(text) ?? [];
  expect([...list.matchAll(/`([\w-]+)`/g)].map(match => match[1])).toEqual([...needed].toSorted());
});
