import { defineConfig } from 'vitest/config';

// Tests read the TypeScript sources of sibling packages, so no build is needed before a test run.
const conditions = ['source', 'module', 'node', 'development|production'];
const shared = { resolve: { conditions }, ssr: { resolve: { conditions } } };

export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          // Databases start in hooks, several test files at once.
          hookTimeout: 60_000,
          include: [
            'packages/*/{src,test}/**/*.test.ts',
            'apps/*/{src,test}/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
        },
      },
      {
        ...shared,
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
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
