import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

/** Runs a step that ends as told, and gives what the caller of `runStep` gets. */
async function outcomeOf(step: string): Promise<string> {
  const source = `
    import { Interruption, runStep } from '${new URL('./processes.mjs', import.meta.url).href}';
    const step = ${JSON.stringify(step)};
    await runStep('Step', process.execPath, ['-e', step], process.env).then(
      () => console.log('done'),
      error => console.log(error instanceof Interruption ? 'stopped' : 'failed', error.message),
    );`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', text => (output += String(text)));
  await once(child, 'close');
  return output.trim();
}

test.each([
  ['', 'done'],
  ['process.exit(3)', 'failed "Step" ended with code 3; the lines above tell why.'],
  ['process.exit(130)', 'stopped "Step" was stopped; the next start does it again.'],
  ["process.kill(process.pid, 'SIGINT')", 'stopped "Step" was stopped; the next start does it again.'],
])('a step that runs %j has the outcome %j', async (step, outcome) => {
  expect(await outcomeOf(step)).toBe(outcome);
});
