// Preloaded into a server (`node --import`), it puts a store of usage in the place of the real one that stores nothing. Usage has no setting
// that turns it off. Caller: the benchmark `overhead`.

import { registerHooks } from 'node:module';

const STORE = /\/stores\/usage\/usage-store\.ts$/;
const NOTHING = new URL('./no-usage-store.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    return STORE.test(specifier)
      ? { url: NOTHING, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context);
  },
});
