import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

// Runtimes and package managers without folders of `node_modules` answer imports by hooks like this one.
const PROGRAM = `
import { registerHooks } from 'node:module';
registerHooks({
  resolve: (name, context, next) =>
    name === 'transformers-llguidance' ? { url: 'file:///elsewhere/dist/index.js', shortCircuit: true } : next(name, context),
});
const { loadLlguidance } = await import(${JSON.stringify(import.meta.resolve('./load-llguidance.ts'))});
try {
  loadLlguidance();
} catch (error) {
  console.log(error.message);
}`;

it('takes llguidance from where an import of its package leads', () => {
  const args = ['--conditions=@ortler/source', '--input-type=module', '--eval', PROGRAM];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toContain('elsewhere');
});
