import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConsoleFiles } from './console-files.ts';

describe('the files of the console', () => {
  let parent: string;
  let folder: string;
  let app: FastifyInstance;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'ortler-console-'));
    folder = join(parent, 'dist');
    app = fastify();
    const files = createConsoleFiles(folder);
    app.get('/', (request, reply) => files.sendPage(request, reply) ?? reply.redirect('docs/'));
    app.get<{ Params: { '*': string } }>('/assets/*', (request, reply) =>
      files.sendAsset(request.params['*'], request, reply),
    );
  });
  afterEach(async () => {
    await app.close();
    rmSync(parent, { recursive: true });
  });
  const build = () => {
    mkdirSync(join(folder, 'assets'), { recursive: true });
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>console</title>');
    writeFileSync(join(folder, 'assets/index-abc.js'), 'export {};');
    writeFileSync(join(folder, 'assets/notes.txt'), 'not of a type that the page needs');
    writeFileSync(join(parent, 'secret.js'), 'secret');
  };

  it('are a page that allows nothing from elsewhere, asked for anew each time', async () => {
    build();
    const reply = await app.inject('/');
    expect(reply.body).toContain('<title>console</title>');
    expect(reply.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'self';.*frame-ancestors 'none'/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    });
    expect(reply.headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:|data:/);
  });

  it('are assets that browsers keep, compressed for those that can read it', async () => {
    build();
    const plain = await app.inject({
      url: '/assets/index-abc.js',
      headers: { 'accept-encoding': 'gzip;q=0' },
    });
    expect(plain.body).toBe('export {};');
    expect(plain.headers['content-encoding']).toBe(undefined);
    const packed = await app.inject({
      url: '/assets/index-abc.js',
      headers: { 'accept-encoding': 'br, gzip' },
    });
    expect(gunzipSync(packed.rawPayload).toString()).toBe('export {};');
    expect(packed.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringContaining('immutable'),
    });
  });

  it.each(['../../secret.js', '..%2f..%2fsecret.js', '%2e%2e/%2e%2e/secret.js', 'notes.txt', ''])(
    'do not include %j',
    async path => {
      build();
      expect((await app.inject(`/assets/${path}`)).statusCode).toBeGreaterThanOrEqual(400);
    },
  );

  it('may be built after the start', async () => {
    expect((await app.inject('/')).statusCode).toBe(302);
    build();
    expect((await app.inject('/')).statusCode).toBe(200);
  });
});
