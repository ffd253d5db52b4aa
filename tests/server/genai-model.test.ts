// A server on a repository that onnxruntime-genai's model builder wrote, with a folder for the CPU and one for WebGPU.

import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChatClient } from '../support/chat-client.ts';
import { makeServerFolder, type RunningServer, startServer } from '../support/server.ts';

const GOLDEN = join(import.meta.dirname, '../../packages/model-builder/test/golden/genai');

describe('a server on a repository of onnxruntime-genai', () => {
  let server: RunningServer;
  beforeAll(async () => {
    const folder = await makeServerFolder();
    const repository = join(folder, 'repository');
    const cpu = join(repository, 'cpu_and_mobile', 'cpu-int4');
    await cp(join(GOLDEN, 'qwen3-int4'), cpu, { recursive: true });
    await cp(join(GOLDEN, 'qwen3-webgpu'), join(repository, 'webgpu'), { recursive: true });
    const models = `whole=${repository},folder=${cpu}`;
    server = await startServer({ folder, arguments: ['--models', models, '--device', 'cpu'] });
  });
  afterAll(() => server?.dispose());

  async function answer(model: string, content: string): Promise<unknown> {
    const messages = [{ role: 'user', content }];
    const fields = { model, messages, seed: 1, max_tokens: 24, ignore_eos: true, n: 2 };
    return (await createChatClient(server).chat(fields)).choices;
  }

  it('gives the answers of the folder for the CPU, together as alone and with its cache as without', async () => {
    const questions = ['Hello!', 'Hello! Who are you?', 'Where?'];
    const together = await Promise.all(questions.map(question => answer('whole', question)));
    for (const [index, question] of questions.entries()) {
      expect(together[index]).toEqual(await answer('folder', question));
      expect(await answer('whole', question)).toEqual(together[index]);
    }
  });
});
