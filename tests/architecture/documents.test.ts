// Documents for people: what they point to is there.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REPOSITORY, sourceFiles } from './imports.ts';
import { pages } from './pages.ts';

/** Targets of links to files, without the places inside them. */
function linksOf(page: string): readonly string[] {
  const text = readFileSync(join(REPOSITORY, page), 'utf8').replace(/^```.*?^```/gms, '');
  const found = [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/^\[[^\]]+\]: (\S+)$/gm)];
  return found.map(match => match[1]!.replace(/#.*$/, '')).filter(link => link !== '' && !/^\w+:/.test(link));
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
    const broken = links.filter(({ page, link }) => !existsSync(join(REPOSITORY, dirname(page), link)));
    expect(broken).toEqual([]);
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
