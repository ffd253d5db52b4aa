import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkCompanions, copyCompanions, listCompanionFiles } from './copy-companions.ts';
import { tinyTokenizerFiles } from './testing/tiny-tokenizer.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ortler-companions-'));
});
afterEach(() => rm(root, { recursive: true }));

test('chat templates are copied from every place where models publish them', async () => {
  const [source, target] = [join(root, 'source'), join(root, 'target')];
  await mkdir(join(source, 'additional_chat_templates'), { recursive: true });
  await mkdir(target);
  const templates = ['chat_template.jinja', 'chat_template.json', 'additional_chat_templates/rag.jinja'];
  for (const name of ['config.json', 'tokenizer.json', ...templates, 'additional_chat_templates/README.md'])
    await writeFile(join(source, name), name);

  const names = await listCompanionFiles(source);
  expect(names).toEqual(['config.json', 'tokenizer.json', ...templates]);
  await copyCompanions(source, target, names);
  for (const name of names) expect(await readFile(join(target, name), 'utf8')).toBe(name);
});

test('a folder without a tokenizer is refused by the name of the file', async () => {
  await writeFile(join(root, 'config.json'), '{}');
  await expect(listCompanionFiles(root)).rejects.toMatchObject({
    code: 'source_invalid',
    message: expect.stringContaining('tokenizer.json is missing'),
  });
});

test('a file that was cut short is named before a build; numbers that only Python writes are not a fault', async () => {
  await writeFile(join(root, 'config.json'), '{"time_step_limit": [0.0, Infinity]}');
  const { tokenizer } = tinyTokenizerFiles();
  await writeFile(join(root, 'tokenizer.json'), JSON.stringify(tokenizer));
  await checkCompanions(root);
  await writeFile(join(root, 'generation_config.json'), '{"eos_token_id": [1,');
  await expect(checkCompanions(root)).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(`${join(root, 'generation_config.json')} is not JSON: Unexpected end`),
  });
});
