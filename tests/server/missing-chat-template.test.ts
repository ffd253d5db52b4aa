// A model without a chat template says so when it is loaded, and serves chat requests with a template that it is given. A model
// that cannot be loaded is reported once. A broken template is named before its model is fetched and built.

import { rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTinyCheckpoint } from '@ortler/model-builder/testing';
import { afterEach, expect, test } from 'vitest';
import { createChatClient } from '../support/chat-client.ts';
import { makeServerFolder, type RunningServer, startServer } from '../support/server.ts';

let server: RunningServer | undefined;
afterEach(() => server?.dispose());

async function start(...settings: readonly string[]): Promise<RunningServer> {
  const folder = await makeServerFolder();
  const model = join(folder, 'plain');
  await createTinyCheckpoint(model);
  const configFile = join(model, 'tokenizer_config.json');
  const { chat_template: _, ...config } = JSON.parse(await readFile(configFile, 'utf8')) as {
    chat_template?: unknown;
  };
  await writeFile(configFile, JSON.stringify(config));
  rmSync(join(model, 'chat_template.jinja'), { force: true });
  writeFileSync(join(folder, 'own.jinja'), '{% for m in messages %}{{ m.content }}{% endfor %}');
  writeFileSync(join(folder, 'broken.jinja'), 'Hi\n{% if %}');
  const broken = join(folder, 'missing');
  const given = settings.map(setting => setting.replace('FOLDER', folder));
  server = await startServer({
    folder,
    arguments: ['--models', `plain=${model},broken=${broken}`, ...given],
  });
  return server;
}

const count = (text: string, part: string) => text.split(part).length - 1;

test('a model without a chat template says so once, and refuses chat requests without one', {
  timeout: 120_000,
}, async () => {
  const running = await start();
  const client = createChatClient(running);
  // The log arrives over another pipe than the line that the server is ready.
  await expect.poll(running.output).toContain('--chat-template FILE');
  expect(count(running.output(), 'no chat template')).toBe(1);
  const error = await client.refused({ model: 'plain', max_tokens: 1 }, 'chat_template');
  expect(error.message).toContain('no chat template');
  const given = { chat_template: '{{ messages[0].content }}' };
  await client.chat({ model: 'plain', max_tokens: 1, ...given });
});

test('--chat-template gives it one, and each load failure is reported once', {
  timeout: 120_000,
}, async () => {
  const running = await start('--chat-template', 'plain=FOLDER/own.jinja');
  expect(running.output()).not.toContain('no chat template');
  await createChatClient(running).chat({ model: 'plain', max_tokens: 1 });
  await expect.poll(() => count(running.output(), join(running.folder, 'missing'))).toBe(1);
});

test('a broken file of --chat-template is named with its line, before the model is looked for', {
  timeout: 120_000,
}, async () => {
  const running = await start('--chat-template', 'broken=FOLDER/broken.jinja');
  const fault = `${join(running.folder, 'broken.jinja')} cannot be parsed at line 2: `;
  await expect.poll(running.output).toContain(fault);
  expect(running.output()).not.toContain(join(running.folder, 'missing'));
});
