import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/support/longest-first.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Compiled code of Node, for the workers and for the many processes that tests start from TypeScript.
process.env.NODE_COMPILE_CACHE ??= fromRoot('.cache/node');

/**
 * Tests and sources run as modules of Node, as the server does from its sources: names bound by the language, where Vite's
 * runner would have a getter for each use of an import. Sibling packages are read as TypeScript, so no build is needed before.
 */
const native = {
  setupFiles: [fromRoot('tests/support/set-up-worker.ts')],
  experimental: { viteModuleRunner: false, nodeLoader: false },
  execArgv: ['--conditions=@ortler/source', '--import', fromRoot('tests/support/resolve-test-runs.mjs')],
};

const INSTALLED = '**/node_modules/**';

const UNIT_TESTS = [
  'packages/*/{src,test}/**/*.test.ts',
  'apps/*/{src,test}/**/*.test.ts',
  'scripts/**/*.test.ts',
  'bench/*/*.test.ts',
];

/** Tests that need a GPU, or a driver that stands in for one. */
const GPU_TESTS = ['{packages,apps,tests}/**/*.gpu.test.ts'];

/** Whole models of every family, in every precision: tens of seconds each. */
const FAMILY_TESTS = [
  'packages/model-builder/test/{decoder-golden,family-equivalence,gguf-families}.test.ts',
  'tests/server/families.test.ts',
];

/** Tests on a real model, which `npm run test-models` downloads. */
const REAL_MODEL_TESTS = ['tests/real-models/**/*.test.ts'];

/** Tests that need a C compiler, Python with a network, and an emulator of arm64. */
const KERNEL_TESTS = ['packages/kernels/c-test/**/*.test.ts'];

/**
 * Tests that read objects with random keys. V8 takes the key `"` for `\` once its process has read an object with that
 * key in the same place (https://github.com/nodejs/node/issues/63785), so each of these files has a process of its own
 * until Node has the fix.
 */
const RANDOM_KEY_TESTS = [
  '{packages,apps}/**/*json*.property.test.ts',
  '{packages,apps}/**/int64-transformer.property.test.ts',
  'packages/feedback-query/**/payload-paths*.test.ts',
  'packages/feedback-query/test/{sqlite,postgres,clickhouse}.test.ts',
];

/** `expect.poll` waits for work of milliseconds; the limit, like those below, only ends a test that waits in vain. */
const patient = { expect: { poll: { timeout: 20_000 } } };

/** One worker more than cores, because some of the tests wait for a time limit. */
const unit = {
  ...patient,
  maxWorkers: availableParallelism() + 1,
  sequence: { groupOrder: 1 },
  restoreMocks: true,
  // The limit ends tests that hang; a test that is slow on a busy machine must not reach it.
  testTimeout: 30_000,
  // Databases start in hooks, several test files at once.
  hookTimeout: 60_000,
};

/**
 * The files of a worker share its process and the modules they import, which saves a start of Node and the imports for each
 * file, and lets them use one PostgreSQL in WebAssembly one after the other.
 */
const sharing = { isolate: false };

/**
 * A GPU is one for all, and a compiler of C takes all cores. But a driver in software spends its time in a compiler of shaders,
 * with one thread, and leaves cores to the other.
 */
const besideCompilers = {
  maxWorkers: process.env.VK_ICD_FILENAMES === undefined ? 1 : availableParallelism(),
  sequence: { groupOrder: 3 },
};

/** `vitest --mode check`, as `pnpm check` runs it, leaves PostgreSQL out: PGlite takes seconds to start. */
const databasesOf = (mode: string) => (mode === 'check' ? { TEST_DATABASES: 'sqlite' } : {});

export default defineConfig(({ mode }) => ({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...native,
          ...unit,
          ...sharing,
          name: 'unit',
          env: databasesOf(mode),
          include: UNIT_TESTS,
          exclude: [...GPU_TESTS, ...RANDOM_KEY_TESTS, ...FAMILY_TESTS, INSTALLED],
        },
      },
      {
        test: {
          ...native,
          ...unit,
          name: 'unit-alone',
          env: databasesOf(mode),
          include: RANDOM_KEY_TESTS,
          exclude: [INSTALLED],
        },
      },
      {
        test: {
          ...native,
          ...unit,
          ...sharing,
          name: 'families',
          include: FAMILY_TESTS,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...native,
          ...sharing,
          ...patient,
          name: 'e2e',
          // Servers and their models are processes beside the workers. Vitest would keep one core to itself, but has
          // little to do.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 2 },
          include: ['tests/**/*.test.ts'],
          globalSetup: ['tests/console/build-console.ts'],
          exclude: [...GPU_TESTS, ...REAL_MODEL_TESTS, ...FAMILY_TESTS, INSTALLED],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          ...native,
          ...sharing,
          name: 'real-models',
          include: REAL_MODEL_TESTS,
          exclude: [INSTALLED],
          // A model call takes all cores, and the files share builds.
          fileParallelism: false,
          sequence: { groupOrder: 4 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          ...native,
          name: 'gpu',
          include: GPU_TESTS,
          exclude: [INSTALLED],
          ...besideCompilers,
          // A process has one model on a GPU: a second thread that uses the provider ends it.
          pool: 'forks',
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          ...native,
          name: 'kernels',
          include: KERNEL_TESTS,
          globalSetup: ['packages/kernels/c-test/install-zig.ts'],
          exclude: [INSTALLED],
          ...besideCompilers,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
    ],
  },
}));
