import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../config/config.ts';
import { readChatTemplate } from './read-chat-template.ts';

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

it('is refused for a model that is not served', () => {
  expect(() => readConfig({ ...models, ORTLER_CHAT_TEMPLATE: `c=${own}` })).toThrow(/names the model c/);
});
