// The arrows between rooms, as ARCHITECTURE.md draws them. A failure here means an import points the wrong
// way: move the code to the room that may know both sides, or change the drawing in the same change.

import { describe, expect, test } from 'vitest';
import { findCircles } from './find-circles.ts';
import { readSourceImports, type SourceImport, sourceFiles } from './imports.ts';

const imports = readSourceImports();

/** Which packages a package may import, besides Node's own modules. */
const PACKAGE_ARROWS: Readonly<Record<string, readonly string[]>> = {
  'packages/schemas': ['zod', 'zod-openapi'],
  'packages/engine': ['koffi', 'onnxruntime-node', '@huggingface/tokenizers'],
  'packages/model-builder': ['zod', '@ortler/engine/graph-contract'],
  'packages/feedback-query': ['kysely'],
  'packages/api': [
    'zod',
    'zod-openapi',
    'trpc-to-openapi',
    '@trpc/server',
    '@trpc/client',
    '@ortler/engine',
    '@ortler/feedback-query',
    '@ortler/schemas',
  ],
  'apps/server': ['*'],
};

/** Rooms inside the engine, innermost first, and the rooms each may import besides itself. */
const ENGINE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  request: ['errors'],
  text: ['request', 'errors', 'graph-contract', 'entry-module'],
  core: ['request', 'errors', 'graph-contract', 'messages', 'entry-module'],
  messages: ['request', 'errors', 'core'],
  link: ['request', 'errors', 'core', 'messages', 'entry-module'],
  device: ['errors', 'core', 'entry-module'],
  constraint: ['request', 'errors', 'text', 'core', 'messages', 'link', 'entry-module'],
};

/** Single files of the engine that know nothing else of it. */
const ENGINE_LEAVES = new Set(['errors.ts', 'graph-contract.ts', 'entry-module.ts']);

/** What crosses the link is the vocabulary of both its sides, so the token side may read it. */
const ENGINE_MESSAGES = new Set([
  'link/messages.ts',
  'link/core-options.ts',
  'link/core-stats.ts',
  'link/request-failure.ts',
]);

/** Folders and files directly below the src of a package, and which of the others each may import. */
const FOLDER_ARROWS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'packages/feedback-query': {
    'errors.ts': [],
    parse: ['errors.ts'],
    bind: ['errors.ts', 'parse'],
    compile: ['errors.ts', 'parse', 'bind'],
    dialects: ['errors.ts', 'parse', 'bind', 'compile'],
    'index.ts': ['errors.ts', 'parse', 'bind', 'compile', 'dialects'],
  },
};

/** Libraries with a single door inside their package. */
const DOORS: readonly { readonly library: RegExp; readonly door: string }[] = [
  { library: /^koffi$|^onnxruntime-/, door: 'packages/engine/src/core/model/ort/' },
  { library: /^@huggingface\//, door: 'packages/engine/src/text/' },
  { library: /^node:sqlite$|^pg$|^@clickhouse\//, door: 'apps/server/src/(db|stores)/' },
];

const packageOf = (file: string) => file.split('/').slice(0, 2).join('/');
const folderOf = (file: string) => file.split('/')[3] ?? '';

function engineRoom(file: string): string | undefined {
  const inside = file.replace('packages/engine/src/', '');
  if (ENGINE_LEAVES.has(inside)) return inside.replace('.ts', '');
  if (ENGINE_MESSAGES.has(inside)) return 'messages';
  return inside.includes('/') ? inside.split('/')[0] : undefined;
}

function broken(rule: (found: SourceImport) => boolean): readonly string[] {
  return imports.filter(found => !rule(found)).map(({ from, to }) => `${from} imports ${to}`);
}

describe('boundaries', () => {
  test('finds the sources it guards', () => {
    for (const name of Object.keys(PACKAGE_ARROWS)) {
      expect(sourceFiles().some(file => file.startsWith(`${name}/src/`))).toBe(true);
    }
    expect(imports.length).toBeGreaterThan(500);
  });

  test('packages import only what their arrows allow', () => {
    const allowed = ({ from, to }: SourceImport) => {
      const arrows = PACKAGE_ARROWS[packageOf(from)] ?? [];
      if (to.startsWith('node:') || arrows.includes('*')) return true;
      if (/^(packages|apps)\//.test(to)) return packageOf(to) === packageOf(from);
      return arrows.some(arrow => to === arrow || (to.startsWith(`${arrow}/`) && !to.startsWith('@ortler/')));
    };
    expect(broken(allowed)).toEqual([]);
  });

  test('nothing imports a file inside another package', () => {
    expect(broken(({ to }) => !/^@ortler\/[^/]+\/(src|dist)\b/.test(to))).toEqual([]);
  });

  test('rooms of the engine import only inner rooms', () => {
    const allowed = ({ from, to }: SourceImport) => {
      if (!from.startsWith('packages/engine/src/') || !to.startsWith('packages/engine/src/')) return true;
      const room = engineRoom(from);
      const target = engineRoom(to);
      if (room === undefined || room === target || !(room in ENGINE_ROOMS)) return true;
      return target !== undefined && (ENGINE_ROOMS[room] ?? []).includes(target);
    };
    expect(broken(allowed)).toEqual([]);
  });

  test.each(Object.entries(FOLDER_ARROWS))(
    'folders of %s import only what their arrows allow',
    (name, arrows) => {
      const files = sourceFiles().filter(file => file.startsWith(`${name}/src/`));
      expect([...new Set(files.map(folderOf))].sort()).toEqual(Object.keys(arrows).sort());
      const allowed = ({ from, to }: SourceImport) => {
        if (packageOf(from) !== name || packageOf(to) !== name) return true;
        const [folder, target] = [folderOf(from), folderOf(to)];
        return folder === target || (arrows[folder] ?? []).includes(target);
      };
      expect(broken(allowed)).toEqual([]);
    },
  );

  // Imports of types count: two files that need each other's types cannot be read one after the other either.
  test('no file imports itself through others', () => {
    expect(findCircles(imports)).toEqual([]);
  });

  test('circles are found, also behind a file that is in none', () => {
    const edges = ['a b', 'b c', 'c d', 'd b', 'd e', 'e e'].map(edge => edge.split(' '));
    const found = findCircles(edges.map(([from, to]) => ({ from: from!, to: to! })));
    expect(found).toEqual(['b -> c -> d -> b', 'e -> e']);
  });

  test('libraries with one door are imported only there', () => {
    const allowed = ({ from, to }: SourceImport) =>
      DOORS.every(({ library, door }) => !library.test(to) || new RegExp(`^${door}`).test(from));
    expect(broken(allowed)).toEqual([]);
  });

  test('no source imports tests', () => {
    expect(broken(({ to }) => !/(^|\/)(test|tests)\/|\.test\.ts$/.test(to))).toEqual([]);
  });
});
