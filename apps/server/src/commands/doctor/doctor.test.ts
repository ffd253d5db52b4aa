import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { doctor } from './doctor.ts';
import type { Finding } from './finding.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ortler-doctor-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function examine(flags: Record<string, string> = {}) {
  const config = readConfig({}, { dataDir: join(folder, 'data'), device: 'cpu', port: '0', ...flags });
  let text = '';
  const out = (part: string) => {
    text += part;
  };
  const isWell = await doctor(config, { isJson: true }, { out, err: out, isScreen: false });
  const { findings } = JSON.parse(text) as { findings: Finding[] };
  return { isWell, bySubject: new Map(findings.map(finding => [finding.subject, finding])) };
}

it('finds nothing wrong before a first start, and creates nothing', async () => {
  const { isWell, bySubject } = await examine();
  expect(isWell).toBe(true);
  expect(bySubject.get('database')).toMatchObject({
    state: 'ok',
    detail: expect.stringContaining('will be created'),
  });
  expect(bySubject.get('ONNX Runtime')?.detail).toMatch(/^version \d/);
  await expect(rm(join(folder, 'data'))).rejects.toThrow('ENOENT');
});

it.each(['data', 'data/sub'])('says that a file is where the data folder %s should be', async dataDir => {
  await writeFile(join(folder, 'data'), '');
  const { isWell, bySubject } = await examine({ dataDir: join(folder, dataDir) });
  expect(isWell).toBe(false);
  const remedy = `${join(folder, 'data')} is a file, not a folder: choose another --data-dir`;
  expect(bySubject.get('disk')).toMatchObject({ state: 'problem', remedy });
  expect(bySubject.get('database')).toMatchObject({ state: 'problem', remedy });
});

it('says that the data folder is a link which leads nowhere', async () => {
  await symlink(join(folder, 'gone'), join(folder, 'data'));
  const { isWell, bySubject } = await examine();
  expect(isWell).toBe(false);
  const remedy = `${join(folder, 'data')} is a link to ${join(folder, 'gone')}, which leads to no folder: choose another --data-dir`;
  expect(bySubject.get('disk')).toMatchObject({ state: 'problem', remedy });
});

it('says what to do about an empty database, a missing model and a port in use', async () => {
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'data', 'ortler.db'), '');
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const port = String((taken.address() as AddressInfo).port);
  const { isWell, bySubject } = await examine({ port, models: `x=${join(folder, 'gone')}` });
  taken.close();
  expect(isWell).toBe(false);
  expect(bySubject.get('database')).toMatchObject({
    state: 'problem',
    remedy: expect.stringContaining('restore it'),
  });
  expect(bySubject.get('model x')).toMatchObject({ state: 'problem' });
  expect(bySubject.get('address')).toMatchObject({
    state: 'problem',
    detail: expect.stringContaining('in use'),
  });
});

// Root may read everything.
it.skipIf(process.getuid?.() === 0)('says that a model may not be read', async () => {
  const model = join(folder, 'closed');
  await mkdir(model, { mode: 0 });
  const { bySubject } = await examine({ models: `x=${model}` });
  expect(bySubject.get('model x')).toMatchObject({
    state: 'problem',
    remedy: expect.stringContaining('let this user read it'),
  });
});

it.each(['postgres://me:secret@127.0.0.1:1/x', 'postgres://127.0.0.1:1/x?user=me&password=secret'])(
  'names a PostgreSQL server that does not answer, without its password: %s',
  async databaseUrl => {
    const { bySubject } = await examine({ databaseUrl });
    const found = bySubject.get('database');
    expect(found).toMatchObject({ state: 'problem', remedy: expect.stringContaining('DATABASE_URL') });
    expect(JSON.stringify(found)).not.toContain('secret');
  },
);

it('takes no running Ortler server for another program', async () => {
  const server = createHttpServer((_, reply) => {
    reply.writeHead(503, { 'content-type': 'application/json' }).end('{"models":[],"databases":[]}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { bySubject } = await examine({ port: String(port) });
  server.close();
  expect(bySubject.get('address')).toMatchObject({
    state: 'ok',
    detail: `127.0.0.1:${port}, where an Ortler server answers`,
  });
});

it('asks ClickHouse with user and password, and says neither a wrong password nor an absent server aloud', async () => {
  const clickHouse = createHttpServer((request, reply) => {
    const credentials = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    if (request.headers.authorization === credentials) return reply.end('{"version":"25.8.1.1"}\n');
    return reply
      .writeHead(403)
      .end('Code: 516. DB::Exception: me: Authentication failed. (AUTHENTICATION_FAILED)');
  }).listen(0, '127.0.0.1');
  await once(clickHouse, 'listening');
  const place = `127.0.0.1:${(clickHouse.address() as AddressInfo).port}`;
  const ask = async (password: string) =>
    (await examine({ clickhouseUrl: `http://me:${password}@${place}/default` })).bySubject.get('ClickHouse');
  const detail = `http://me:***@${place}/default`;
  expect(await ask('secret')).toMatchObject({ state: 'ok', detail: `${detail}: ClickHouse 25.8.1.1` });
  const refused = await ask('hidden');
  expect(refused).toMatchObject({
    state: 'problem',
    detail: expect.stringContaining('Authentication failed'),
    remedy: expect.stringContaining('CLICKHOUSE_URL'),
  });
  await new Promise(resolve => clickHouse.close(resolve));
  const absent = await ask('hidden');
  expect(absent).toMatchObject({ state: 'problem', detail: expect.stringContaining('ECONNREFUSED') });
  expect(JSON.stringify([refused, absent])).not.toContain('hidden');
});

it('warns of little space, and of an address that others reach', async () => {
  const { isWell, bySubject } = await examine({ lowDiskBytes: '1048576gb', host: '0.0.0.0' });
  expect(isWell).toBe(true);
  expect(bySubject.get('disk')).toMatchObject({
    state: 'warning',
    remedy: expect.stringContaining('models prune'),
  });
  expect(bySubject.get('address')).toMatchObject({
    state: 'warning',
    remedy: expect.stringContaining('TLS'),
  });
});
