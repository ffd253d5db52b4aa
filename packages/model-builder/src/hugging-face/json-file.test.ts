import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readJsonFile } from './json-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-json-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function parsed(text: string): Promise<unknown> {
  const path = join(folder, 'config.json');
  await writeFile(path, text);
  return readJsonFile(path);
}

it('reads infinite numbers as Python writes them, and leaves texts as they are', async () => {
  expect(
    await parsed('{"a": [0.0, Infinity], "b": -Infinity, "c": "say \\"Infinity\\", NaN", "d": NaN}'),
  ).toEqual({
    a: [0, { __float__: 'Infinity' }],
    b: { __float__: '-Infinity' },
    c: 'say "Infinity", NaN',
    d: { __float__: 'NaN' },
  });
});

it('says where a text is not JSON', async () => {
  const message = expect.stringMatching(/config\.json is not JSON: .*line 3 column 1/);
  await expect(parsed('{\n  "a": Infinity,\n}')).rejects.toMatchObject({ message });
});

it.each(['{"a": Infinit}', '{"a": InfinityX}', '{', '{"a": "}'])('refuses %s', async text => {
  await expect(parsed(text)).rejects.toMatchObject({ code: 'config_invalid' });
});

it('refuses a file that is longer than any', async () => {
  const message = expect.stringMatching(/config\.json has 16777219 bytes; at most 16777216 are read/);
  await expect(parsed(`{}${' '.repeat(16 * 1024 * 1024 + 1)}`)).rejects.toMatchObject({ message });
});
