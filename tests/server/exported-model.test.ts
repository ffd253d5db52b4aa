// A server on a folder that another program exported, beside our own build of the same checkpoint.

import { join } from 'node:path';
import { createTinyCheckpoint, writeOptimumModel } from '@ortler/model-builder/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChatClient } from '../support/chat-client.ts';
import { makeServerFolder, type RunningServer, startServer } from '../support/server.ts';

describe('a server on an exported model', () => {
  let server: RunningServer;
  beforeAll(async () => {
    const folder = await makeServerFolder();
    const [sourceDir, outputDir] = [join(folder, 'own'), join(folder, 'exported')];
    await createTinyCheckpoint(sourceDir);
    await writeOptimumModel({ sourceDir, outputDir, precision: 'f32', logits: 'all' });
    const models = `own=${sourceDir},exported=${outputDir}`;
    server = await startServer({ folder, arguments: ['--models', models] });
  });
  afterAll(() => server?.dispose());

  async function answer(model: string, content: string): Promise<unknown> {
    const messages = [{ role: 'user', content }];
    const fields = { model, messages, seed: 1, max_tokens: 24, ignore_eos: true, n: 2 };
    return (await createChatClient(server).chat(fields)).choices;
  }

  it('gives the answers of the build, together as alone and with its cache as without', async () => {
    const questions = ['Hello!', 'Hello! How are you?', 'What is the highest summit of the Alps?'];
    const together = await Promise.all(questions.map(question => answer('exported', question)));
    for (const [index, question] of questions.entries()) {
      expect(together[index]).toEqual(await answer('own', question));
      expect(await answer('exported', question)).toEqual(together[index]);
    }
  });
});
