// Loaded with `--import`: the process finds no library of the kernels, because it expects one of other sources.

import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, nextLoad) =>
    url.endsWith('/packages/kernels/src/source-hash.ts')
      ? { format: 'module', shortCircuit: true, source: "export const SOURCE_HASH = '0000000000000000';" }
      : nextLoad(url, context),
});
