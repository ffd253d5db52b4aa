// The set-up contract, as a newcomer meets it: a clean clone, `npm start`, a curl. The machine's own Node runs npm;
// the clone has no dependencies, no build and no tools. It runs where the repository is a git checkout.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REPOSITORY } from '../support/server.ts';

const API_KEY = 'test-key-0123456789abcdef';
const PORT = String(await freePort());
const isCheckout = existsSync(join(REPOSITORY, '.git'));

describe.skipIf(!isCheckout)('first start of a clean clone (skipped outside a git checkout)', () => {
  let clone: string;
  beforeAll(() => {
    clone = join(mkdtempSync(join(tmpdir(), 'ortler-clone-')), 'ortler');
    execFileSync('git', ['clone', '--quiet', '--depth', '1', `file://${REPOSITORY}`, clone]);
  });
  afterAll(() => rmSync(dirname(clone), { recursive: true, force: true }));

  test('npm start sets everything up and answers a chat', { timeout: 600_000 }, async () => {
    const server = startWithNpm(clone);
    try {
      const answer = await answerOf(server.failure);
      expect(answer).toContain('Paris');
    } finally {
      await server.stop();
    }
  });

  test('a stopped server leaves nothing listening', async () => {
    await expect(fetch(`http://127.0.0.1:${PORT}/health`)).rejects.toThrow();
  });

  test('the second start installs and builds nothing', { timeout: 60_000 }, async () => {
    const server = startWithNpm(clone);
    try {
      expect(await answerOf(server.failure)).toContain('Paris');
      expect(server.output()).not.toMatch(/Installing|Building|Getting/);
    } finally {
      await server.stop();
    }
  });
});

function startWithNpm(folder: string) {
  const child = spawn('npm', ['start', '--', '--port', PORT], {
    cwd: folder,
    detached: true,
    env: newcomersEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', data => (output += data));
  child.stderr.on('data', data => (output += data));
  return {
    output: () => output,
    failure: () =>
      child.exitCode === null ? undefined : `npm start ended with ${child.exitCode}:\n${output}`,
    stop: async () => {
      // What Ctrl-C in a terminal does: the signal goes to the whole group.
      if (child.exitCode === null && child.pid !== undefined) {
        process.kill(-child.pid, 'SIGINT');
        await once(child, 'exit');
      }
    },
  };
}

/** The environment without this test run's own Node, pnpm and package folders. */
function newcomersEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|ORTLER_|VITEST|NODE_)/.test(name));
  const path = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter), ORTLER_API_KEY: API_KEY };
}

/** Asks once the server is ready; throws what `failure` says if it ends before, or what /health says of a broken model. */
async function answerOf(failure: () => string | undefined): Promise<string> {
  while (!(await isReady())) {
    const reason = failure();
    if (reason !== undefined) throw new Error(reason);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  const response = await fetch(`http://127.0.0.1:${PORT}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'What is the capital of France?' }] }),
  });
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  return body.choices[0]?.message.content ?? '';
}

async function isReady(): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${PORT}/health`).catch(() => undefined);
  if (response === undefined) return false;
  const health = await response.text();
  if (health.includes('"failed"')) throw new Error(`A model failed to load: ${health}`);
  return response.ok;
}

/** A port of this machine that nothing uses now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
