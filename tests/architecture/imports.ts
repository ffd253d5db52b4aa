// Reads the imports of source files as text, for the boundary test.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dirname, '../..');

export interface SourceImport {
  /** File that imports, relative to the repository: `packages/engine/src/engine.ts`. */
  readonly from: string;
  /** What it names: a package, `node:fs`, or for relative imports the file, relative to the repository. */
  readonly to: string;
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*['"]([^'"]+)['"]|\bimport(?:\.meta\.resolve)?\s*\(\s*['"]([^'"]+)['"]|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g;

/** All imports of the product's sources (tests left out), static and dynamic, types included. */
export function readSourceImports(): readonly SourceImport[] {
  return sourceFiles().flatMap(file => importsOf(file));
}

/** Source files of all packages and apps, tests left out, relative to the repository. */
export function sourceFiles(): readonly string[] {
  return ['packages', 'apps'].flatMap(group =>
    readdirSync(join(REPOSITORY, group)).flatMap(name => {
      const folder = join(REPOSITORY, group, name, 'src');
      return readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter(file => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
        .map(file => toPosix(relative(REPOSITORY, join(folder, file))));
    }),
  );
}

function importsOf(file: string): readonly SourceImport[] {
  const text = readFileSync(join(REPOSITORY, file), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  return [...text.matchAll(IMPORT)].map(match => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    const to = specifier.startsWith('.') ? posix.normalize(posix.join(dirname(file), specifier)) : specifier;
    return { from: file, to };
  });
}

function toPosix(path: string): string {
  return path.replaceAll('\\', '/');
}
