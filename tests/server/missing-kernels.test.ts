// A server on a machine that the CPU kernels do not support: it builds and serves, and says why it is slower.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MANIFEST_FILE } from '@ortler/engine/graph-contract';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeServerFolder, type RunningServer, startServer } from '../support/server.ts';

const REASON = /The CPU kernels cannot be used: the library ortler-kernels-\S+-0{16}\.\w+ is missing\. /;

describe('a server without kernels', () => {
  let server: RunningServer;
  beforeAll(async () => {
    const folder = await makeServerFolder();
    await createTinyCheckpoint(join(folder, 'tiny'));
    const hooks = new URL('../support/without-kernels.ts', import.meta.url);
    server = await startServer({
      folder,
      arguments: ['--models', `tiny=${join(folder, 'tiny')}`, '--precision', 'q4'],
      env: { NODE_OPTIONS: `--import=${hooks}` },
    });
  });
  afterAll(() => server?.dispose());

  it("builds for ONNX Runtime's own operators and answers", async () => {
    const builds = join(server.folder, 'data', 'models');
    const name = (await readdir(builds)).find(entry => entry.startsWith('slots-q4-'))!;
    const manifest = JSON.parse(await readFile(join(builds, name, MANIFEST_FILE), 'utf8'));
    expect(manifest).toMatchObject({ variant: 'slots', precision: 'q4', kvType: 'float32' });
    const reply = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'tiny',
        messages: [{ role: 'user', content: 'Hello!' }],
        max_tokens: 5,
        ignore_eos: true,
      }),
    });
    expect(await reply.json()).toMatchObject({ usage: { completion_tokens: 5 } });
  });

  it('says why in /health, without paths of the machine, and in one line of its log', async () => {
    const { models } = (await (await fetch(`${server.url}/health`)).json()) as {
      models: readonly { readonly id: string; readonly state: string; readonly detail: string }[];
    };
    expect(models).toEqual([{ id: 'tiny', state: 'ready', detail: expect.stringMatching(REASON) }]);
    expect(models[0]!.detail).not.toContain('prebuilt');
    const lines = server
      .output()
      .split('\n')
      .filter(line => line.startsWith('{') && REASON.test(line));
    expect(lines.map(line => JSON.parse(line))).toEqual([
      expect.objectContaining({ model: 'tiny', msg: 'the model runs slower than it could' }),
    ]);
  });
});
