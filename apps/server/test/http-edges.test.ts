// Edge cases of HTTP: other methods, odd paths, unread bodies, and bytes that are not HTTP. All errors have one shape, with
// the request's id.

import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { AUTHORIZATION, CHAT_PATH, MESSAGES, openTestApp, type TestApp } from './open-test-app.ts';

let test: TestApp;
afterEach(() => test.app.close());

function errorBody(code: number, type: string) {
  return { error: { message: expect.stringMatching(/./), type, param: null, code } };
}

function manyEntries<Value>(count: number, value: Value): Record<string, Value> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [index, value]));
}

/** Sends raw bytes; returns the whole reply. */
async function exchange(bytes: string): Promise<string> {
  const { hostname, port } = new URL(await test.listen());
  const socket = connect(Number(port), hostname);
  const parts: Buffer[] = [];
  socket.on('data', part => parts.push(part));
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

describe('routes outside the api', () => {
  it.each(['/health', '/version', '/metrics', '/openapi.json'])(
    '%s refuses other methods with the ones it has',
    async url => {
      test = await openTestApp();
      const headers = { 'content-type': 'text/odd' };
      const reply = await test.app.inject({ method: 'POST', url, headers, payload: 'x' });
      expect(reply.statusCode).toBe(405);
      expect(reply.headers.allow).toBe('GET');
      expect(reply.json()).toEqual(errorBody(405, 'Method Not Allowed'));
      expect((await test.app.inject({ method: 'HEAD', url: `${url}/` })).statusCode).toBe(200);
    },
  );

  it('/ping takes a POST with any body', async () => {
    test = await openTestApp();
    for (const type of ['application/json', 'text/odd']) {
      const headers = { 'content-type': type };
      const reply = await test.app.inject({ method: 'POST', url: '/ping', headers, payload: '{' });
      expect(reply.statusCode).toBe(200);
    }
  });

  it('every reply carries the id of its request', async () => {
    test = await openTestApp();
    for (const url of ['/health', '/docs/nothing', '/v1/%zz', '/trpc/nothing', '/nothing']) {
      const reply = await test.app.inject({ url, headers: { 'x-request-id': 'mine' } });
      expect([url, reply.headers['x-request-id']]).toEqual([url, 'mine']);
    }
  });

  it('the docs page answers an unknown file with the usual error', async () => {
    test = await openTestApp();
    expect((await test.app.inject('/docs/nothing')).json()).toEqual(errorBody(404, 'Not Found'));
  }, 20_000);
});

describe('paths and methods', () => {
  it('a plain OPTIONS is answered with the allowed methods', async () => {
    test = await openTestApp();
    const reply = await test.app.inject({ method: 'OPTIONS', url: CHAT_PATH });
    expect(reply.statusCode).toBe(204);
  });

  it('a broken escape is refused in the error shape of its endpoint, with the headers of every reply', async () => {
    test = await openTestApp();
    for (const [url, body] of [
      ['/v1/models/%zz', errorBody(400, 'Bad Request')],
      ['/v1/preview/models/%zz/log?x=1', { detail: expect.stringContaining('%zz') }],
      ['/feedback/%zz', { detail: expect.stringContaining('%zz') }],
    ] as const) {
      const reply = await test.app.inject({ url });
      expect([url, reply.statusCode, reply.json()]).toEqual([url, 400, body]);
      expect(reply.headers['x-content-type-options']).toBe('nosniff');
    }
    const { body: metrics } = await test.app.inject('/metrics');
    expect(metrics).toContain('http_requests_total{method="GET",handler="none",status="4xx"} 3');
  });

  it('an escaped letter of a path is that letter', async () => {
    test = await openTestApp();
    const headers = { authorization: AUTHORIZATION };
    expect((await test.app.inject({ url: '/v1/m%6fdels', headers })).statusCode).toBe(200);
    expect((await test.app.inject({ url: '/v1%2Fmodels', headers })).statusCode).toBe(404);
  });

  it.each([
    ['/v1/models', /200 OK/],
    ['/health', /200 OK/],
    // The console, or the way to the documentation where it is not built.
    ['', /200 OK|302 Found/],
    ['?a=1', /200 OK|302 Found/],
    ['/nothing?a=http://b', /404 Not Found/],
  ])('a request line may have the whole address: %j', async (path, status) => {
    test = await openTestApp();
    const start = `GET HTTP://localhost:8000${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n`;
    const reply = await exchange(`${start}Authorization: ${AUTHORIZATION}\r\n\r\n`);
    expect(reply.split('\r\n', 1)[0]).toMatch(status);
  });

  it('a request without a host is refused in the error shape', async () => {
    test = await openTestApp();
    const [head, body] = (await exchange('GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n')).split(
      '\r\n\r\n',
    );
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect(head).toMatch(/^x-request-id: /im);
    expect(JSON.parse(body!)).toEqual(errorBody(400, 'Bad Request'));
  });

  it('a request of HTTP/1.0 needs no host', async () => {
    test = await openTestApp();
    expect(await exchange('GET /ping HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('a long unknown path is not repeated in full', async () => {
    test = await openTestApp();
    expect((await test.app.inject(`/${'a'.repeat(4_000)}`)).body.length).toBeLessThan(500);
  });

  it('a method that no route has is 405 on a known path and 404 elsewhere', async () => {
    test = await openTestApp();
    const replies = await exchange(
      `PROPFIND /v1/models HTTP/1.1\r\nHost: a\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n` +
        'PROPFIND /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(replies.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 405', 'HTTP/1.1 404']);
    expect(replies.match(/"param":null,"code":\d+/g)).toHaveLength(2);
  });

  it.each(['/v1/models', '/health', '/feedback/query'])(
    'QUERY is refused like any other method: %s',
    async path => {
      for (const type of ['', 'Content-Type: text/plain\r\n', 'Content-Type: application/json\r\n']) {
        test = await openTestApp();
        const head = `QUERY ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${type}Content-Length: 2\r\n`;
        const reply = await exchange(`${head}Authorization: ${AUTHORIZATION}\r\n\r\n{}`);
        expect(reply.split('\r\n', 1), type).toEqual(['HTTP/1.1 405 Method Not Allowed']);
        await test.app.close();
      }
    },
  );
});

describe('paths without a key', () => {
  it.each([
    ['GET', '/v1/nothing'],
    ['GET', '/v1'],
    ['GET', '/%76%31/nothing'],
    ['PROPFIND', '/v1/models'],
    ['GET', CHAT_PATH],
    ['POST', '/v1/preview/nothing'],
  ])('%s %s under /v1 does not say whether there is anything', async (method, url) => {
    test = await openTestApp();
    for (const authorization of ['', 'Basic x', 'Bearer wrong']) {
      const reply = await test.app.inject({ method: method as 'GET', url, headers: { authorization } });
      expect([reply.statusCode, reply.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    }
    const known = await test.app.inject({
      method: method as 'GET',
      url,
      headers: { authorization: AUTHORIZATION },
    });
    expect([404, 405]).toContain(known.statusCode);
  });

  it.each(['/nothing', '/v10/models', '/feedback/nothing'])('%s elsewhere is just not there', async url => {
    test = await openTestApp();
    expect((await test.app.inject(url)).statusCode).toBe(404);
  });
});

describe('bytes that are not HTTP', () => {
  it.each([
    ['broken syntax', 'NONSENSE\r\n\r\n', 400, 'Bad Request'],
    [
      'headers past the limit',
      `GET / HTTP/1.1\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large',
    ],
  ])('%s gets the error shape of everything else', async (_name, bytes, status, type) => {
    test = await openTestApp();
    const [head, body] = (await exchange(bytes)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} ${type}\r\n`));
    expect(JSON.parse(body!)).toEqual(errorBody(status, type));
    expect(head).toMatch(/^X-Request-Id: \w{32}$/m);
    // Origins of a list cannot be compared with one that was not read.
    expect(head).not.toContain('Access-Control');
  });

  it('may be read by browsers of any origin, where any is allowed', async () => {
    test = await openTestApp(undefined, undefined, { corsOrigins: '*' });
    const reply = await exchange(`GET / HTTP/1.1\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(reply).toContain('\r\nAccess-Control-Allow-Origin: *\r\n');
  });

  it('an expectation that is not met gets the error shape too', async () => {
    test = await openTestApp();
    const start = 'POST /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n';
    const [head, body] = (await exchange(`${start}Expect: wonders\r\n\r\n`)).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 417 /);
    expect(head).toMatch(/^x-request-id: /im);
    expect(JSON.parse(body!)).toEqual(errorBody(417, 'Expectation Failed'));
  });
});

describe('bodies', () => {
  it.each(['application/json, text/plain', 'json', ';', 'application/json/x'])(
    'of the type %j are refused with 400, and only to those who have a key',
    async type => {
      test = await openTestApp();
      const headers = { 'content-type': type };
      const reply = await test.post(JSON.stringify({ messages: MESSAGES }), headers);
      expect([reply.statusCode, reply.json()]).toEqual([400, errorBody(400, 'Bad Request')]);
      expect((await test.post('{}', { ...headers, authorization: '' })).statusCode).toBe(401);
    },
  );

  it('a compressed body is refused by its encoding', async () => {
    test = await openTestApp();
    const reply = await test.post({ messages: MESSAGES }, { 'content-encoding': 'gzip' });
    expect(reply.statusCode).toBe(400);
    expect(reply.json<{ error: { message: string } }>().error.message).toContain('gzip');
  });

  it.each([
    ['messages', { messages: [{ role: 'user', content: new Array(300_000).fill(1) }] }],
    ['stop', { messages: MESSAGES, stop: new Array(300_000).fill(1) }],
    ['messages', { messages: new Array(250_000).fill({}) }],
    ['logit_bias', { messages: MESSAGES, logit_bias: manyEntries(60_000, 'x') }],
    ['engine_xargs', { messages: MESSAGES, engine_xargs: manyEntries(60_000, {}) }],
  ])('hundreds of thousands of faults in %s are refused at once', async (field, body) => {
    test = await openTestApp(undefined, 2 ** 23);
    const before = process.cpuUsage();
    const reply = await test.post(body);
    expect(reply.statusCode).toBe(400);
    expect(reply.json<{ error: { param: string } }>().error.param).toMatch(new RegExp(`^${field}`));
    // Takes tenths of seconds, including writing and reading the body; collecting every fault took seconds, in which no other
    // request was answered. CPU time, so that a busy machine does not matter.
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(1_500_000);
  });

  it.each([
    ['values', { messages: new Array(600_000).fill(1) }],
    ['properties', { messages: MESSAGES, extra: manyEntries(600_000, 1) }],
  ])('with more %s than any request needs are refused before they are parsed', async (word, body) => {
    test = await openTestApp(undefined, 2 ** 24);
    const payload = JSON.stringify(body);
    const before = process.cpuUsage();
    const reply = await test.post(payload);
    expect([reply.statusCode, reply.json().error.message]).toEqual([413, expect.stringContaining(word)]);
    const overTrpc = await test.app.inject({
      method: 'POST',
      url: '/trpc/chat.complete',
      headers: { 'content-type': 'application/json', authorization: AUTHORIZATION },
      payload,
    });
    expect(overTrpc.statusCode).toBe(413);
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(1_000_000);
  });

  it('a tRPC body past the limit gets an error in the shape of tRPC', async () => {
    test = await openTestApp();
    const reply = await test.app.inject({
      method: 'POST',
      url: '/trpc/chat.complete',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', 'x-request-id': 'mine' },
      payload: JSON.stringify('x'.repeat(5_000)),
    });
    expect(reply.statusCode).toBe(413);
    expect(reply.json()).toEqual({
      error: {
        message: expect.stringMatching(/./),
        code: -32013,
        data: {
          code: 'PAYLOAD_TOO_LARGE',
          httpStatus: 413,
          requestId: 'mine',
          reason: 'body_too_large',
          type: 'Request Entity Too Large',
          param: null,
        },
      },
    });
  });
});
