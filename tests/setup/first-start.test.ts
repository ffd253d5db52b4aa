// The set-up contract, as a newcomer meets it: a clean clone, `npm start`, a curl, packages for a project of one's own.
// The machine's own Node runs npm; the clone has no dependencies, no build and no tools. It runs where the repository is a
// git checkout.

import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readFolder, startHub } from '@ortler/hub/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { REPOSITORY } from '../support/server.ts';
import { installTarballs } from './install-tarballs.ts';
import { readExamples, runExample, writeExamples } from './readme-examples.ts';

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

  test('npm run dev builds a model from the sources, and starts again after an edit', {
    timeout: 120_000,
  }, async () => {
    const dataDir = join(dirname(clone), 'dev');
    const server = startIn(clone, 'npm', ['run', 'dev', '--', '--port', PORT, '--data-dir', dataDir]);
    const starts = () => server.output().split('ready in').length - 1;
    try {
      expect(await answerOf(server.failure)).toContain('Paris');
      await expect.poll(starts).toBe(1);
      appendFileSync(join(clone, 'apps/server/src/app.ts'), '\n');
      await expect.poll(starts, { timeout: 60_000 }).toBe(2);
      expect(await answerOf(server.failure)).toContain('Paris');
    } finally {
      await server.stop();
    }
  });

  describe('packages that the clone packs, in a project outside of it', () => {
    let project: string;
    beforeAll(() => {
      project = join(dirname(clone), 'project');
      mkdirSync(project);
      const tarballs = join(dirname(clone), 'tarballs');
      const options = { cwd: clone, env: newcomersEnvironment(), encoding: 'utf8' } as const;
      execFileSync('npm', ['run', 'pack', '--', tarballs], options);
      installTarballs(project, tarballs, clone);
      writeFileSync(join(project, 'package.json'), '{"type": "module"}');
    }, 300_000);

    test('the engine and the builder run a model', async () => {
      const source = `
        import { createEngine } from '@ortler/engine';
        import { ensureModel } from '@ortler/model-builder';
        const sourceDir = ${JSON.stringify(join(clone, 'models/demo'))};
        const modelDir = await ensureModel({ sourceDir, cacheDir: 'models', precision: 'q8' });
        const engine = await createEngine({ modelDir });
        const messages = [{ role: 'user', content: 'What is the capital of France?' }];
        for await (const event of engine.generate({ prompt: { messages } }))
          if (event.kind === 'token-delta') process.stdout.write(event.text);
        await engine.close();`;
      writeFileSync(join(project, 'engine.ts'), source);
      expect(execFileSync(process.execPath, ['engine.ts'], { cwd: project, encoding: 'utf8' })).toContain(
        'Paris',
      );
    });

    test('the console comes with the licences of what is bundled into it', () => {
      const file = join(project, 'node_modules/@ortler/console/dist/third-party-licences.md');
      expect(readFileSync(file, 'utf8')).toMatch(
        /^## react-dom - [\d.]+ \(MIT\)\n+[^#]*Permission is hereby granted/m,
      );
    });

    test.each(['nodenext', 'bundler'])('their types hold under moduleResolution %s', resolution => {
      const source = `
        import type { AppRouter } from '@ortler/api';
        import { createOrtlerClient, int64Transformer } from '@ortler/api/client';
        import { createOpenApiDocument } from '@ortler/api/openapi';
        import type { Engine } from '@ortler/engine';
        import { bindFeedbackQuery, compileFeedbackQuery, sqliteDialect } from '@ortler/feedback-query';
        import { buildModel } from '@ortler/model-builder';
        import { chatCompletionRequest } from '@ortler/schemas';
        import { startServer } from '@ortler/server';
        import { openFeedback } from '@ortler/server/feedback';
        import { createTRPCClient, httpLink } from '@trpc/client';
        import type { Kysely } from 'kysely';
        import { z } from 'zod';

        const url = 'http://127.0.0.1:8000';
        const messages = [{ role: 'user', content: 'Hello!' }];
        const ours = createOrtlerClient({ url, apiKey: 'key' });
        const plain = createTRPCClient<AppRouter>({ links: [httpLink({ url, transformer: int64Transformer })] });
        export const [reply] = await Promise.all([ours, plain].map(client => client.chat.complete.mutate({ messages })));
        export const content: string | null | undefined = reply?.choices[0]?.message.content;
        // @ts-expect-error The router's types are known, not any.
        ours.chat.complete.mutate({ messages: 3 });

        export const rows = (db: Kysely<unknown>) =>
          db.executeQuery(compileFeedbackQuery(bindFeedbackQuery({ projectId: 'a/b' }), sqliteDialect).statement);
        export const request = z.object({ team: z.string(), request: chatCompletionRequest });
        export type Kept = Engine;
        export { buildModel, createOpenApiDocument, openFeedback, startServer };`;
      writeFileSync(join(project, 'types.ts'), source);
      const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
      const compilerOptions = {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        target: 'es2024',
        lib: ['es2024', 'esnext.disposable', 'esnext.float16', 'dom'],
        module,
        moduleResolution: resolution,
        types: ['node'],
        // Declarations of our own are held to what they say of others.
        skipLibCheck: false,
      };
      const settings = { compilerOptions, files: ['types.ts'] };
      writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings));
      const compiler = join(clone, 'node_modules/typescript/bin/tsc');
      const { stdout } = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
      expect(stdout).toBe('');
    });

    test('a caller of a server needs neither the engine nor ONNX Runtime', () => {
      const caller = join(dirname(clone), 'caller');
      mkdirSync(caller);
      const tarballs = join(dirname(clone), 'tarballs');
      installTarballs(caller, tarballs, clone, ['api', 'schemas', 'feedback-query']);
      const source = `
        import { createOrtlerClient } from '@ortler/api/client';
        const { models } = createOrtlerClient({ url: 'http://127.0.0.1:1', apiKey: 'key' });
        await models.list.query().catch(error => console.log(error.name));`;
      writeFileSync(join(caller, 'call.mjs'), source);
      const output = execFileSync(process.execPath, ['call.mjs'], { cwd: caller, encoding: 'utf8' });
      expect(output).toBe('TRPCClientError\n');
    });

    // As npm lays it out: dependencies from the registry, and the command in node_modules/.bin.
    describe('ortler, installed by npm in an empty folder', () => {
      let folder: string;
      beforeAll(() => {
        folder = join(dirname(clone), 'empty');
        mkdirSync(folder);
        const tarballs = join(dirname(clone), 'tarballs');
        const files = readdirSync(tarballs)
          .filter(name => name.endsWith('.tgz'))
          .map(name => join(tarballs, name));
        const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
        execFileSync('npm', ['install', ...flags, ...files], { cwd: folder, env: newcomersEnvironment() });
      }, 300_000);

      test('streams an answer of the demo model from the five lines of the README', () => {
        const [example] = readExamples('ortler');
        writeExamples(folder, [{ ...example!, file: 'answer.mts' }]);
        expect(runExample(folder, { ...example!, file: 'answer.mts' })).toBe(example!.output);
      });

      // The first command was npm install.
      test('answers with a model by its name: two commands from an empty folder', async () => {
        const hub = await startHub({
          'ortler/demo': { files: await readFolder(join(clone, 'models/demo')) },
        });
        const env = newcomersEnvironment();
        env.PATH = [dirname(process.execPath), env.PATH].join(delimiter);
        Object.assign(env, { HF_ENDPOINT: hub.url, HF_HOME: join(folder, 'hf') });
        try {
          const args = ['--no-install', 'ortler', 'chat', 'ortler/demo', 'What is the capital of France?'];
          const { stdout, stderr } = await promisify(execFile)('npx', args, { cwd: folder, env });
          expect(stdout).toContain('Paris');
          // What a person reads meanwhile: size, disk and memory, then how far it is.
          expect(stderr).toMatch(
            /ortler\/demo: 9\.7 MB to download; .+ of disk and .+ of memory in this machine\./,
          );
          expect(stderr).toMatch(/ortler\/demo: downloading \d+%/);
          expect(stderr).toMatch(/ortler\/demo: building \d+%/);
          expect(readdirSync(join(folder, 'hf/hub'))).toContain('models--ortler--demo');
        } finally {
          await hub.close();
        }
      });

      test('serves with npx ortler serve', { timeout: 120_000 }, async () => {
        // The packages need Node 24; the clone brings its own.
        const env = newcomersEnvironment();
        env.PATH = [dirname(process.execPath), env.PATH].join(delimiter);
        const args = ['--no-install', 'ortler', 'serve', '--port', PORT];
        const server = startIn(folder, 'npx', args, env);
        try {
          expect(await answerOf(server.failure)).toContain('Paris');
        } finally {
          await server.stop();
        }
      });
    });
  });
});

function startWithNpm(folder: string) {
  return startIn(folder, 'npm', ['start', '--', '--port', PORT]);
}

function startIn(folder: string, command: string, args: readonly string[], env = newcomersEnvironment()) {
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', data => (output += data));
  child.stderr.on('data', data => (output += data));
  return {
    output: () => output,
    failure: () =>
      child.exitCode === null ? undefined : `${command} ended with ${child.exitCode}:\n${output}`,
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
