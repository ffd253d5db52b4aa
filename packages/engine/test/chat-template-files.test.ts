import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readChatTemplates } from '../src/text/chat-template-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-templates-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function read(files: Readonly<Record<string, string>>, config = {}): Promise<Record<string, string>> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  return Object.fromEntries(await readChatTemplates(folder, config));
}

const LIST = [
  { name: 'default', template: 'a' },
  { name: 'tool_use', template: 'b' },
];

test('tokenizer_config.json has one template, or a list of named ones', async () => {
  expect(await read({}, { chat_template: 'a' })).toEqual({ default: 'a' });
  expect(await read({}, { chat_template: LIST })).toEqual({ default: 'a', tool_use: 'b' });
});

test('template files take the place of all that tokenizer_config.json has', async () => {
  const files = { 'chat_template.jinja': 'c', 'additional_chat_templates/rag.jinja': 'd' };
  expect(await read(files, { chat_template: LIST })).toEqual({ default: 'c', rag: 'd' });
});

test('the template of a processor is taken where there is no other', async () => {
  const files = { 'chat_template.json': '{"chat_template":"e"}' };
  expect(await read(files, { chat_template: 'a' })).toEqual({ default: 'a' });
  expect(await read({})).toEqual({ default: 'e' });
});

test.each([{ a: 1 }, [{ name: 'default' }], 3])('refuses %j as a template', async entry => {
  await expect(read({}, { chat_template: entry })).rejects.toMatchObject({
    code: 'model_invalid',
    message: expect.stringContaining('tokenizer_config.json'),
  });
});
