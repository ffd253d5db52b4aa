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

/** Starts a program as npm does, in a shell that does not become it, and ends the shell. Gives what the program writes. */
async function outputAfterShell(program: string, environment: NodeJS.ProcessEnv): Promise<string> {
  const source = `
    import { runToEnd } from '${new URL('./processes.mjs', import.meta.url).href}';
    await runToEnd(process.execPath, ['-e', process.env.PROGRAM], process.env);`;
  const shell = spawn('sh', ['-c', '"$NODE" --input-type=module -e "$SOURCE"; exit'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, NODE: process.execPath, SOURCE: source, PROGRAM: program, ...environment },
  });
  let output = '';
  shell.stdout.on('data', text => {
    if (output === '') shell.kill('SIGTERM');
    output += String(text);
  });
  await once(shell, 'close');
  return output;
}

/** Says who stopped it, or that nobody did. */
const STOPPABLE = `
  process.on('SIGTERM', () => { console.log('stopped'); process.exit(); });
  setTimeout(() => { console.log('left alone'); process.exit(); }, 1_500);
  console.log('running');`;

test('the end of a shell that npm started stops the program', async () => {
  const output = await outputAfterShell(STOPPABLE, { npm_lifecycle_event: 'start' });
  expect(output).toBe('running\nstopped\n');
});

test('a shell that somebody else started may end before the program', async () => {
  const output = await outputAfterShell(STOPPABLE, { npm_lifecycle_event: undefined });
  expect(output).toBe('running\nleft alone\n');
});
