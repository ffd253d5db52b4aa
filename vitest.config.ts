import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Tests read the TypeScript sources of sibling packages, so no build is needed before a test run.
const conditions = ['source', 'module', 'node', 'development|production'];
const shared = { resolve: { conditions }, ssr: { resolve: { conditions } } };

/** Tests that need a GPU, or a driver that stands in for one. */
const GPU_TESTS = ['{packages,apps,tests}/**/*.gpu.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          // Vitest leaves one core to itself, but has little to do: on two cores this halves the time.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 1 },
          // Databases start in hooks, several test files at once.
          hookTimeout: 60_000,
          include: [
            'packages/*/{src,test}/**/*.test.ts',
            'apps/*/{src,test}/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
          exclude: [...GPU_TESTS, '**/node_modules/**'],
        },
      },
      {
        ...shared,
        test: {
          name: 'gpu',
          include: GPU_TESTS,
          exclude: ['**/node_modules/**'],
          // A process has one model on a GPU: a second thread that uses the provider ends it. One at a time, as a
          // software driver takes all cores.
          pool: 'forks',
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          exclude: [...GPU_TESTS, '**/node_modules/**'],
          // One of the AI SDK's dependencies publishes its TypeScript under the condition that our own packages use.
          // Node does not strip types below node_modules; vite does.
          server: { deps: { inline: [/@ai-sdk\//, /node_modules\/ai\//, /eventsource-parser/] } },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
