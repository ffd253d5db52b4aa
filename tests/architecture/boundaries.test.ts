// The arrows between packages and folders, as ARCHITECTURE.md draws them. A failure here means that an import points the wrong
// way: move the code to the place that may know both sides, or change the drawing in the same change.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findCircles } from './find-circles.ts';
import { REPOSITORY, readSourceImports, type SourceImport, sourceFiles } from './imports.ts';

const imports = readSourceImports();

/** Which libraries and packages a package may import, besides Node's own modules. */
const PACKAGE_ARROWS: Readonly<Record<string, readonly string[]>> = {
  'packages/gguf': [],
  'packages/json': [],
  'packages/upstream': [],
  'packages/worker': [],
  'packages/hub': [],
  'packages/jinja': [],
  'packages/onnx': [],
  'packages/kernels': [],
  'packages/schemas': ['zod', 'zod-openapi'],
  'packages/feedback-query': ['kysely'],
  'packages/onnxruntime': ['koffi', 'onnxruntime-node', '@ortler/kernels', '@ortler/onnx', '@ortler/worker'],
  'packages/structured-output': ['transformers-llguidance', '@ortler/json', '@ortler/worker'],
  'packages/tool-calling': ['@ortler/json', '@ortler/structured-output'],
  'packages/engine': [
    '@ortler/jinja',
    '@ortler/json',
    '@ortler/onnx',
    '@ortler/onnxruntime',
    '@ortler/structured-output',
    '@ortler/tool-calling',
    '@ortler/worker',
  ],
  'packages/ai-sdk-provider': ['@ai-sdk/provider', 'zod', '@ortler/engine'],
  'packages/model-builder': [
    'zod',
    '@ortler/gguf',
    '@ortler/kernels',
    '@ortler/onnx',
    '@ortler/worker',
    '@ortler/engine/graph-contract',
    '@ortler/engine/text-files',
  ],
  'packages/api': [
    'zod',
    'zod-openapi',
    'trpc-to-openapi',
    '@trpc/server',
    '@trpc/client',
    '@ortler/engine',
    '@ortler/feedback-query',
    '@ortler/json',
    '@ortler/schemas',
    '@ortler/structured-output',
    '@ortler/upstream',
    '@ortler/worker',
  ],
  'packages/ortler': [
    '@ortler/engine',
    '@ortler/engine/graph-contract',
    '@ortler/engine/text-files',
    '@ortler/demo-model/package.json',
    '@ortler/hub',
    '@ortler/model-builder',
    '@ortler/onnxruntime',
    '@ortler/server/cli',
  ],
  // Of the api its types, and the transformer of every typed client. All else is bundled into the pages.
  'apps/console': [
    '@codemirror',
    '@lezer/highlight',
    '@ortler/api',
    '@ortler/api/client',
    '@ortler/json',
    '@ortler/schemas',
    '@tanstack/react-query',
    '@tanstack/react-router',
    '@tanstack/react-virtual',
    '@trpc/client',
    '@trpc/server',
    '@trpc/tanstack-react-query',
    'class-variance-authority',
    'clsx',
    'eventsource',
    'react',
    'react-dom',
    'tailwind-merge',
    'uplot',
  ],
  'apps/server': [
    '@ortler/api/client',
    '@ortler/api/feedback-drafts',
    '@ortler/api/openapi',
    '@ortler/api/trajectory-log',
    '@ortler/engine/graph-contract',
    '@ortler/engine/text-files',
    '@clickhouse/client',
    '@fastify/cors',
    '@ortler/api',
    '@ortler/console/package.json',
    '@ortler/demo-model/package.json',
    '@ortler/engine',
    '@ortler/feedback-query',
    '@ortler/feedback-query/result-row',
    '@ortler/hub',
    '@ortler/json',
    '@ortler/model-builder',
    '@ortler/onnxruntime',
    '@ortler/schemas',
    '@ortler/structured-output',
    '@ortler/upstream',
    '@ortler/worker',
    '@scalar/fastify-api-reference',
    '@trpc/client',
    '@trpc/server',
    'commander',
    'fastify',
    'kysely',
    'pg',
    'pino',
    'prom-client',
    'zod',
  ],
};

/** Folders and files directly below the src of a package, innermost first, and which of the others each may import. */
const FOLDER_ARROWS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'packages/engine': {
    'errors.ts': [],
    'graph-contract': [],
    request: ['errors.ts'],
    protocol: ['errors.ts', 'request'],
    'engine.ts': ['errors.ts', 'request', 'protocol'],
    'perplexity.ts': ['engine.ts'],
    // The text side and the token side never import each other.
    text: ['errors.ts', 'graph-contract', 'request'],
    core: ['errors.ts', 'graph-contract', 'request', 'protocol'],
    link: ['errors.ts', 'request', 'protocol', 'core'],
    'text-side': ['errors.ts', 'engine.ts', 'request', 'protocol', 'text', 'link'],
    'create-engine.ts': [
      'errors.ts',
      'engine.ts',
      'request',
      'protocol',
      'text',
      'core',
      'link',
      'text-side',
    ],
    'index.ts': ['errors.ts', 'engine.ts', 'create-engine.ts', 'perplexity.ts', 'request', 'protocol'],
    testing: [
      'errors.ts',
      'create-engine.ts',
      'graph-contract',
      'request',
      'protocol',
      'text',
      'core',
      'link',
    ],
  },
  'packages/feedback-query': {
    'errors.ts': [],
    parse: ['errors.ts'],
    bind: ['errors.ts', 'parse'],
    compile: ['errors.ts', 'parse', 'bind'],
    dialects: ['errors.ts', 'parse', 'bind', 'compile'],
    'index.ts': ['errors.ts', 'parse', 'bind', 'compile', 'dialects'],
  },
};

/** Libraries and packages with a single door inside a package. */
const DOORS: readonly { readonly library: RegExp; readonly door: string }[] = [
  { library: /^koffi$|^onnxruntime-/, door: 'packages/onnxruntime/src/' },
  { library: /^transformers-llguidance/, door: 'packages/structured-output/src/llguidance/' },
  { library: /^@huggingface\//, door: 'packages/engine/src/text/' },
  { library: /^@ortler\/jinja$/, door: 'packages/engine/src/text/' },
  { library: /^@ai-sdk\//, door: 'packages/ai-sdk-provider/src/' },
  { library: /^pg$|^@clickhouse\//, door: 'apps/server/src/(db|stores)/' },
  // Locks between processes are taken with it, which the operating system frees with a process.
  {
    library: /^node:sqlite$/,
    door: '(apps/server/src/(db|stores)/|packages/hub/src/cache/file-lock\\.ts$)',
  },
];

const packageOf = (file: string) => file.split('/').slice(0, 2).join('/');

/** Where a source file lies: its package and the folder inside, or the file itself where it lies loose. */
function placeOf(file: string): { readonly home: string; readonly folder: string } | undefined {
  const found = /^((?:packages|apps)\/[^/]+)\/src\/([^/]+)/.exec(file);
  return found === null ? undefined : { home: found[1]!, folder: found[2]! };
}

function broken(rule: (found: SourceImport) => boolean): readonly string[] {
  return imports.filter(found => !rule(found)).map(({ from, to }) => `${from} imports ${to}`);
}

describe('boundaries', () => {
  test('name every package, and find the sources that they guard', () => {
    const packages = ['packages', 'apps'].flatMap(group =>
      readdirSync(join(REPOSITORY, group)).map(name => `${group}/${name}`),
    );
    expect(packages.sort()).toEqual(Object.keys(PACKAGE_ARROWS).sort());
    for (const name of packages)
      expect(sourceFiles().some(file => file.startsWith(`${name}/src/`))).toBe(true);
    expect(imports.length).toBeGreaterThan(500);
  });

  test('packages import only what their arrows allow', () => {
    const allowed = ({ from, to }: SourceImport) => {
      const arrows = PACKAGE_ARROWS[packageOf(from)] ?? [];
      if (to.startsWith('node:')) return true;
      if (/^(packages|apps)\//.test(to)) return packageOf(to) === packageOf(from);
      // Doubles and conformance suites may use those of the packages below.
      const target = /\/src\/testing\//.test(from) ? to.replace(/\/testing$/, '') : to;
      return arrows.some(
        arrow => target === arrow || (to.startsWith(`${arrow}/`) && !to.startsWith('@ortler/')),
      );
    };
    expect(broken(allowed)).toEqual([]);
  });

  test('packages declare what they import of each other, and import what they declare', () => {
    for (const name of Object.keys(PACKAGE_ARROWS)) {
      const found = new Set(
        imports
          .filter(({ from, to }) => packageOf(from) === name && to.startsWith('@ortler/'))
          .map(({ to }) => to.split('/').slice(0, 2).join('/')),
      );
      const { dependencies, peerDependencies, devDependencies } = JSON.parse(
        readFileSync(join(REPOSITORY, name, 'package.json'), 'utf8'),
      );
      // What is bundled at the build need not be there afterwards.
      const bundled = name === 'apps/console' ? devDependencies : {};
      const declared = Object.keys({ ...dependencies, ...peerDependencies, ...bundled });
      expect({ name, uses: declared.filter(other => other.startsWith('@ortler/')).sort() }).toEqual({
        name,
        uses: [...found].sort(),
      });
    }
  });

  // Data without code, such as the demo model, is not a package of the table.
  test('the table of ARCHITECTURE.md shows the imports of every package', () => {
    const text = readFileSync(join(REPOSITORY, 'ARCHITECTURE.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([a-z-]+)` +\|[^|]+\|([^|]+)\|$/gm)];
    const drawn: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
      rows.map(([, name, cell]) => [name, cell!.trim() === 'nothing' ? [] : cell!.trim().split(', ').sort()]),
    );
    const names = Object.keys(PACKAGE_ARROWS).map(home => home.split('/')[1]!);
    const found = Object.fromEntries(
      Object.keys(PACKAGE_ARROWS).map(home => {
        const targets = imports
          .filter(({ from, to }) => packageOf(from) === home && to.startsWith('@ortler/'))
          .map(({ to }) => to.split('/')[1]!)
          .filter(name => names.includes(name));
        return [home.split('/')[1], [...new Set(targets)].sort()];
      }),
    );
    expect(drawn).toEqual(found);
    // A package stands above all that it imports.
    const order = Object.keys(drawn);
    for (const [name, targets] of Object.entries(drawn))
      for (const target of targets)
        expect(order.indexOf(target), `${name} stands above ${target}`).toBeGreaterThan(order.indexOf(name));
  });

  test('nothing imports a file inside another package', () => {
    expect(broken(({ to }) => !/^@ortler\/[^/]+\/(src|dist)\b/.test(to))).toEqual([]);
  });

  test.each(Object.entries(FOLDER_ARROWS))(
    'folders of %s import only what their arrows allow',
    (home, arrows) => {
      const folders = sourceFiles()
        .map(placeOf)
        .filter(place => place?.home === home);
      expect([...new Set(folders.map(place => place!.folder))].sort()).toEqual(Object.keys(arrows).sort());
      const allowed = ({ from, to }: SourceImport) => {
        const [source, target] = [placeOf(from), placeOf(to)];
        if (source?.home !== home || target?.home !== home || source.folder === target.folder) return true;
        return (arrows[source.folder] ?? []).includes(target.folder);
      };
      expect(broken(allowed)).toEqual([]);
    },
  );

  // Imports of types count: two places that need each other's types cannot be read one after the other either.
  test('no package imports itself through others', () => {
    const edges = imports
      .filter(({ to }) => to.startsWith('@ortler/'))
      .map(({ from, to }) => ({
        from: packageOf(from),
        to: to.replace(/^@ortler\/([^/]+).*/, 'packages/$1'),
      }));
    expect(findCircles(edges)).toEqual([]);
  });

  test('no folder imports itself through others', () => {
    const edges = imports.flatMap(({ from, to }) => {
      const [source, target] = [placeOf(from), placeOf(to)];
      if (source === undefined || target === undefined || source.folder === target.folder) return [];
      return [{ from: `${source.home}/${source.folder}`, to: `${target.home}/${target.folder}` }];
    });
    expect(findCircles(edges)).toEqual([]);
  });

  test('no folder of the core imports itself through others', () => {
    const core = /^packages\/engine\/src\/core\/([^/]+)/;
    const edges = imports.flatMap(({ from, to }) => {
      const [source, target] = [core.exec(from)?.[1], core.exec(to)?.[1]];
      if (source === undefined || target === undefined || source === target) return [];
      return [{ from: source, to: target }];
    });
    expect(edges.length).toBeGreaterThan(50);
    expect(findCircles(edges)).toEqual([]);
  });

  test('no folder of the runners imports itself through others', () => {
    const runners = /^packages\/engine\/src\/core\/runners\/([^/]+)/;
    const edges = imports.flatMap(({ from, to }) => {
      const [source, target] = [runners.exec(from)?.[1], runners.exec(to)?.[1]];
      if (source === undefined || target === undefined || source === target) return [];
      return [{ from: source, to: target }];
    });
    expect(edges.length).toBeGreaterThan(10);
    expect(findCircles(edges)).toEqual([]);
  });

  test('no file imports itself through others', () => {
    expect(findCircles(imports)).toEqual([]);
  });

  test('circles are found, also after a file that is in none', () => {
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
