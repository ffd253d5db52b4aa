import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../config/config.ts';
import { readChatTemplate, readChatTemplates } from './read-chat-template.ts';

const folder = mkdtempSync(join(tmpdir(), 'ortler-template-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [own, others] = [join(folder, 'own.jinja'), join(folder, 'others.jinja')];
writeFileSync(own, '{{ own }}');
writeFileSync(others, '{{ others }}');
const models = { ORTLER_MODELS: 'a=/a,b=/b' };

it('gives a model the file of its id, and others the file without one', async () => {
  const config = readConfig({ ...models, ORTLER_CHAT_TEMPLATE: `a=${own},${others}` });
  expect(await readChatTemplate(config, 'a')).toBe('{{ own }}');
  expect(await readChatTemplate(config, 'b')).toBe('{{ others }}');
});

it('leaves other models their own', async () => {
  expect(await readChatTemplate(readConfig(models), 'a')).toBeUndefined();
  const config = readConfig({ ...models, ORTLER_CHAT_TEMPLATE: `a=${own}` });
  expect(await readChatTemplate(config, 'b')).toBeUndefined();
});

it('names a file that cannot be read', async () => {
  const config = readConfig({ ...models, ORTLER_CHAT_TEMPLATE: join(folder, 'none.jinja') });
  await expect(readChatTemplate(config, 'a')).rejects.toThrow(
    /none\.jinja cannot be read: it does not exist/,
  );
});

it('names a file that cannot be parsed, and the line', async () => {
  const broken = join(folder, 'broken.jinja');
  writeFileSync(broken, '{% for m in messages %}\n{{ m.content }}\n{% endfo %}');
  const config = readConfig({ ...models, ORTLER_CHAT_TEMPLATE: broken });
  await expect(readChatTemplate(config, 'a')).rejects.toThrow(/broken\.jinja cannot be parsed at line 3: /);
});

it('reads the files of all models once', async () => {
  const changing = join(folder, 'changing.jinja');
  writeFileSync(changing, '{{ first }}');
  const config = readConfig({ ...models, ORTLER_CHAT_TEMPLATE: `a=${own},${changing}` });
  const templateOf = readChatTemplates(config);
  expect(await templateOf('a')).toBe('{{ own }}');
  expect(await templateOf('b')).toBe('{{ first }}');
  writeFileSync(changing, '{% endfo %}');
  expect(await templateOf('b')).toBe('{{ first }}');
  expect(await templateOf('a checkpoint of another base')).toBe('{{ first }}');
});

it('gives the fault of a file to each model that has it, and to no other', async () => {
  const config = readConfig({ ...models, ORTLER_CHAT_TEMPLATE: `a=${join(folder, 'none.jinja')},${others}` });
  const templateOf = readChatTemplates(config);
  await expect(templateOf('a')).rejects.toThrow('none.jinja cannot be read');
  expect(await templateOf('b')).toBe('{{ others }}');
  expect(await readChatTemplates(readConfig(models))('a')).toBeUndefined();
});

it('is refused for a model that is not served', () => {
  expect(() => readConfig({ ...models, ORTLER_CHAT_TEMPLATE: `c=${own}` })).toThrow(/names the model c/);
});
