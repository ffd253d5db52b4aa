// Each package as a product of its own: packed, laid out in an empty project with its declared dependencies only, compiled
// there with `tsc --strict` and run. The program is the README's example, or an import where that needs a model or a server.
//
// Libraries are linked from the checkout instead of downloaded: exactly those that the packed manifest declares.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REPOSITORY } from '../support/server.ts';
import { listPackages, readExamples, runExample, writeExamples } from './readme-examples.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly keywords?: readonly string[];
  readonly exports: Readonly<Record<string, unknown>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const COMPILER_OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
  allowImportingTsExtensions: true,
  target: 'es2024',
  module: 'nodenext',
  types: ['node'],
};
const LIBRARIES = ['es2024', 'esnext.iterator', 'esnext.disposable', 'esnext.float16'];
/** Declarations of third parties that name types of browsers: @trpc/client has `RequestInfo`. */
const FURTHER_LIBRARIES: Readonly<Record<string, readonly string[]>> = { api: ['dom'] };
/** Packages whose libraries' declarations have faults: @ai-sdk/provider imports types that it does not bring. */
const UNCHECKED_LIBRARIES: ReadonlySet<string> = new Set(['ai-sdk-provider']);

/** With pnpm at its end: where the machine has none, the set-up has put one there. */
const PATH = [dirname(process.execPath), process.env.PATH, join(REPOSITORY, '.tools/node_modules/.bin')].join(
  delimiter,
);
const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
const packages = listPackages();
/** By folder: the packages, and the apps and the demo model, on which a package may depend. */
const manifests = new Map(
  [
    ...packages.map(name => `packages/${name}`),
    ...readdirSync(join(REPOSITORY, 'apps')).map(name => `apps/${name}`),
    'models/demo',
  ]
    .filter(folder => existsSync(join(REPOSITORY, folder, 'package.json')))
    .map(folder => [folder, readManifest(join(REPOSITORY, folder))]),
);
const folderByName = new Map([...manifests].map(([folder, { name }]) => [name, folder]));
const buildOrder = inBuildOrder();

let root: string;
let unpacked: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'ortler-alone-'));
  unpacked = join(root, 'unpacked');
  const copy = copySources(join(root, 'sources'));
  for (const folder of buildOrder) {
    const settings = join(copy, folder, 'tsconfig.build.json');
    if (existsSync(settings)) execFileSync(process.execPath, [TSC, '-p', settings], { stdio: 'pipe' });
  }
  const tarballs = join(root, 'tarballs');
  const filters = buildOrder.flatMap(folder => ['--filter', `./${folder}`]);
  execFileSync(
    'pnpm',
    ['--config.verify-deps-before-run=false', ...filters, 'pack', '--pack-destination', tarballs],
    { cwd: copy, stdio: 'pipe', env: { ...process.env, PATH } },
  );
  for (const folder of buildOrder) {
    const { name, version } = manifests.get(folder)!;
    const target = join(unpacked, folder);
    mkdirSync(target, { recursive: true });
    const tarball = join(tarballs, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
    execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  }
}, 300_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** One for each platform. */
const KERNEL_LIBRARIES = 6;

describe.each(packages)('the package %s', name => {
  const folder = `packages/${name}`;
  test('holds its build and its README, and nothing of its development', () => {
    const target = join(unpacked, folder);
    const files = readdirSync(target, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(target.length + 1));
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', 'LICENSE']));
    const libraries = files.filter(file => file.startsWith('prebuilt/'));
    expect(libraries.length).toBe(basename(folder) === 'kernels' ? KERNEL_LIBRARIES : 0);
    const others = files.filter(file => !libraries.includes(file));
    expect(others.filter(file => !/^(dist\/.+|package\.json|README\.md|LICENSE)$/.test(file))).toEqual([]);
    expect(files.filter(file => /\.test\.|\.d\.ts\.map$|\.tsbuildinfo$/.test(file))).toEqual([]);
    for (const map of files.filter(file => file.endsWith('.js.map')))
      expect(JSON.parse(readFileSync(join(target, map), 'utf8')).sourcesContent).toHaveLength(1);
  });

  test('says in its manifest what it is, and names versions that a registry can resolve', () => {
    const manifest = readManifest(join(unpacked, folder));
    expect(manifest.description).toMatch(/\w{3}/);
    expect(JSON.stringify(manifest.exports)).not.toContain('@ortler/source');
    const wanted = Object.values({ ...manifest.dependencies, ...manifest.peerDependencies });
    expect(wanted.filter(version => /^(workspace|catalog|link|file):/.test(version))).toEqual([]);
  });

  test('compiles and runs in an empty project', { timeout: 120_000 }, () => {
    const project = join(root, 'projects', folder);
    mkdirSync(project, { recursive: true });
    install(project, manifests.get(folder)!.name);
    const examples = readExamples(name);
    writeFileSync(join(project, 'package.json'), '{"type": "module"}');
    writeExamples(project, examples);
    writeFileSync(join(project, 'import.ts'), importsOf(readManifest(join(unpacked, folder))));
    const compilerOptions = {
      ...COMPILER_OPTIONS,
      skipLibCheck: UNCHECKED_LIBRARIES.has(name),
      lib: [...LIBRARIES, ...(FURTHER_LIBRARIES[name] ?? [])],
    };
    const files = ['import.ts', ...examples.map(({ file }) => file)];
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    expect(spawnSync(process.execPath, [TSC, '-p', project], { encoding: 'utf8' }).stdout).toBe('');
    const imported = { file: 'import.ts', source: '', output: 'imported\n', isPart: false };
    for (const example of [imported, ...examples].filter(({ isPart }) => !isPart))
      expect(runExample(project, example)).toBe(example.output);
  });
});

/** A program that imports each entry point of a package, but those for tests, which may need a test runner. */
function importsOf({ name, exports }: Manifest): string {
  const entries = Object.keys(exports).filter(
    entry => !entry.endsWith('/testing') && !entry.endsWith('.json'),
  );
  const lines = entries.map((entry, i) => `import * as entry${i} from '${name}${entry.slice(1)}';`);
  const uses = entries.map((_, i) => `entry${i}`).join(', ');
  return `${lines.join('\n')}\nif ([${uses}].length > 0) console.log('imported');\n`;
}

/** Puts a package and all that it declares into `node_modules`, each library once. */
function install(project: string, wanted: string): void {
  const installed = join(project, 'node_modules');
  for (const name of ['@types/node', 'typescript'])
    linkOnce(join(REPOSITORY, 'node_modules', name), join(installed, name));
  const open = [wanted];
  const seen = new Set<string>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const folder = folderByName.get(name)!;
    cpSync(join(unpacked, folder), join(installed, name), { recursive: true });
    const { dependencies = {}, peerDependencies = {} } = readManifest(join(unpacked, folder));
    for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
      if (folderByName.has(dependency)) open.push(dependency);
      else linkLibrary(folder, dependency, installed);
    }
  }
}

/** A library as npm would lay it out: it finds its own dependencies in the store of the checkout. */
function linkLibrary(folder: string, name: string, installed: string): void {
  const source = join(REPOSITORY, folder, 'node_modules', name);
  // An optional peer that the checkout does not have either.
  if (existsSync(source)) linkOnce(source, join(installed, name));
}

function linkOnce(target: string, link: string): void {
  if (existsSync(link)) return;
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(realpathSync(target), link);
}

/** The packages without their builds: a package must not hold what an earlier build left. */
function copySources(target: string): string {
  mkdirSync(join(target, 'scripts'), { recursive: true });
  const loose = ['package.json', 'pnpm-workspace.yaml', 'pnpm-lock.yaml', 'tsconfig.base.json', 'LICENSE'];
  for (const file of loose) cpSync(join(REPOSITORY, file), join(target, file));
  cpSync(join(REPOSITORY, 'scripts/setup'), join(target, 'scripts/setup'), { recursive: true });
  for (const folder of buildOrder)
    cpSync(join(REPOSITORY, folder), join(target, folder), {
      recursive: true,
      verbatimSymlinks: true,
      filter: file => !/^(dist|\.cache|\.turbo|test)$/.test(basename(file)),
    });
  // The links of the packages lead to each other and to the store in the root's own folder.
  symlinkSync(join(REPOSITORY, 'node_modules'), join(target, 'node_modules'));
  return target;
}

/** The packages, each after those that it is built with. */
function inBuildOrder(): readonly string[] {
  const order = new Set<string>();
  const visit = (folder: string): void => {
    const { dependencies, devDependencies, peerDependencies } = manifests.get(folder)!;
    for (const name of Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })) {
      const other = folderByName.get(name);
      if (other !== undefined && !order.has(other)) visit(other);
    }
    order.add(folder);
  };
  for (const name of packages) visit(`packages/${name}`);
  return [...order];
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
