// Resolves `test-runs`, the name by which the tests of every package import test-runs.ts. Loaded before the tests of each worker.

import { registerHooks } from 'node:module';

const url = new URL('test-runs.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'test-runs' ? { url, shortCircuit: true } : next(specifier, context),
});
