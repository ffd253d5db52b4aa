// The client against a server with faults, over real connections.

import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createUpstream, type Upstream, UpstreamError, type UpstreamOptions } from '../src/index.ts';
import { type FaultyServer, type Step, startFaultyServer, steps } from '../src/testing/index.ts';

const ANSWER = { id: 'a', choices: [] };
const BUSY = { error: { message: 'too many' } };
/** Tests wait for their end; longer than a busy machine keeps an answer back. */
const SILENCE_MS = 400;
const FIRST_BYTE_MS = 400;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(...script: readonly Step[]): Promise<FaultyServer> {
  const server = await startFaultyServer(...script);
  open.push(() => server.close());
  return server;
}

function connect(urls: readonly string[], options: Partial<UpstreamOptions> = {}): Upstream {
  const timeouts = { connectMs: 5_000, firstByteMs: FIRST_BYTE_MS, silenceMs: SILENCE_MS };
  const upstream = createUpstream({ urls, timeouts, ...options });
  open.push(() => upstream.close());
  return upstream;
}

const request = (signal = new AbortController().signal) => ({
  path: 'chat/completions',
  body: '{"model":"m"}',
  key: null,
  signal,
});

async function readAll(upstream: Upstream): Promise<string[]> {
  const found: string[] = [];
  for await (const data of await upstream.postForEvents(request())) found.push(data);
  return found;
}

async function errorOf(work: Promise<unknown>): Promise<UpstreamError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UpstreamError);
  return error as UpstreamError;
}

function blockFor(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

const openCounts = (upstream: Upstream) => upstream.servers.map(({ openCount }) => openCount);

/** A port that nobody listens on. */
async function closedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return `http://127.0.0.1:${port}/v1`;
}

describe('an answer in JSON', () => {
  it('comes back with its values; path, body and key go out', async () => {
    const text = '{"id": "a", "n": 12345678901234567890}';
    const server = await start(steps.json(text));
    const upstream = connect([server.url], { apiKey: 'secret' });
    expect(await upstream.postForJson(request())).toEqual(JSON.parse(text));
    expect(server.bodies).toEqual(['{"model":"m"}']);
    expect(server.headers[0]).toMatchObject({ authorization: 'Bearer secret' });
    expect(openCounts(upstream)).toEqual([0]);
  });

  it.each([
    ['a bad request', 400, 'rejected'],
    ['a wrong key', 401, 'rejected'],
    ['an unknown model', 404, 'rejected'],
    ['a broken server', 500, 'failed'],
    ['a bad gateway', 502, 'failed'],
    ['a server that is away', 503, 'failed'],
    ['a gateway that waited', 504, 'failed'],
    ['a redirect', 302, 'invalid_reply'],
  ])('is an error for %s, with its status and words', async (_, status, code) => {
    const server = await start(steps.json({ error: { message: 'because' } }, status));
    const error = await errorOf(connect([server.url]).postForJson(request()));
    expect(error).toMatchObject({ code, status });
    expect(error.message).toContain(`answered ${status}: because`);
    expect(server.bodies).toHaveLength(1);
  });

  it.each([
    ['7', 7_000],
    [undefined, undefined],
    ['soon', undefined],
  ])('says when to come again after 429: %s', async (header, retryAfterMs) => {
    const headers = header === undefined ? {} : { 'retry-after': header };
    const server = await start(steps.json(BUSY, 429, headers));
    const error = await errorOf(connect([server.url]).postForJson(request()));
    expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryAfterMs });
  });

  it.each([
    ['half of it', '{"id": "a", '],
    ['a page', '<html></html>'],
    ['nothing', ''],
  ])('is an error where JSON is %s', async (_, body) => {
    const server = await start(steps.json(body));
    expect(await errorOf(connect([server.url]).postForJson(request()))).toMatchObject({
      code: 'invalid_reply',
    });
  });

  it('is an error where nobody listens, nobody answers, or the body stops', async () => {
    expect(await errorOf(connect([await closedUrl()]).postForJson(request()))).toMatchObject({
      code: 'unreachable',
    });
    const mute = await start(steps.nothing);
    expect(await errorOf(connect([mute.url]).postForJson(request()))).toMatchObject({ code: 'slow' });
    const half = await start(response => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"id":');
    });
    expect(await errorOf(connect([half.url]).postForJson(request()))).toMatchObject({ code: 'silent' });
  });
});

describe('a stream', () => {
  it('gives the data of each event as it was sent, in whatever pieces it comes', async () => {
    const server = await start(
      steps.events(': hello\n\n', 'data: {"a": "ä', '"}\n', '\ndata: two\r\n\r\n', 'data: [DONE]\n\n'),
    );
    const upstream = connect([server.url]);
    expect(await readAll(upstream)).toEqual(['{"a": "ä"}', 'two']);
    expect(openCounts(upstream)).toEqual([0]);
  });

  it('takes carriage returns alone for ends of lines, apart from their line feeds too', async () => {
    const pieces = ['data: o', 'n', 'e\r', '\r', 'data: two\r', '\n', '\r\n', 'data: [DONE]\r', '\r', ' '];
    const upstream = connect([(await start(steps.events(...pieces))).url]);
    expect(await readAll(upstream)).toEqual(['one', 'two']);
  });

  it.each(['data: [DONE]', 'data: [DONE]\n', 'data: [DONE]\r', 'data: [DONE]\r\n'])(
    'ends well with %j and nothing after it',
    async end => {
      const upstream = connect([(await start(steps.events('data: 1\n\n', end))).url]);
      expect(await readAll(upstream)).toEqual(['1']);
      expect(upstream.servers).toMatchObject([{ openCount: 0, failureCount: 0 }]);
    },
  );

  it.each([
    ['reset within its events', steps.eventsThenReset('data: 1\n\n'), 'broken'],
    ['ended without [DONE]', steps.events('data: 1\n\n'), 'broken'],
    ['ended within an event', steps.events('data: 1\n\n', 'data: {"a'), 'broken'],
    ['silent within its events', steps.eventsThenSilence('data: 1\n\n'), 'silent'],
  ])('that is %s fails after what came, and is not tried again', async (_, step, code) => {
    const server = await start(step);
    const events = await connect([server.url]).postForEvents(request());
    expect(await events.next()).toEqual({ done: false, value: '1' });
    expect(await errorOf(events.next())).toMatchObject({ code });
    expect(server.bodies).toHaveLength(1);
  });

  it.each([
    ['JSON', steps.json(ANSWER)],
    ['bytes that are not text', steps.events('data: ', Buffer.from([0xff, 0xfe]) as unknown as string)],
  ])('is an error where the server sends %s', async (_, step) => {
    const server = await start(step);
    expect(await errorOf(readAll(connect([server.url])))).toMatchObject({ code: 'invalid_reply' });
  });

  it('is moved to another server while no event has come', async () => {
    const good = steps.events('data: 1\n\n', 'data: [DONE]\n\n');
    for (const bad of [
      steps.reset,
      steps.nothing,
      steps.eventsThenReset(),
      steps.eventsThenSilence(),
      steps.json(BUSY, 429),
      steps.json(BUSY, 503),
    ]) {
      const [first, second] = [await start(bad), await start(good)];
      expect(await readAll(connect([first.url, second.url]))).toEqual(['1']);
      expect(first.bodies).toHaveLength(1);
    }
  });

  it('is tried once more on the only server when its connection was lost', async () => {
    const server = await start(steps.reset, steps.events('data: 1\n\n', 'data: [DONE]\n\n'));
    expect(await readAll(connect([server.url]))).toEqual(['1']);
    expect(server.bodies).toHaveLength(2);
  });

  it('ends on the server when its reader leaves or its caller aborts', async () => {
    const server = await start(steps.eventsThenSilence('data: 1\n\n'));
    const upstream = connect([server.url], { timeouts: { silenceMs: 60_000 } });
    const left = await upstream.postForEvents(request());
    await left.return!();
    const caller = new AbortController();
    const aborted = await upstream.postForEvents(request(caller.signal));
    await aborted.next();
    const waiting = aborted.next();
    caller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect.poll(() => server.leftCount).toBe(2);
    expect(openCounts(upstream)).toEqual([0]);
  });

  it('waits for a reader that is slow, without counting that as silence', async () => {
    let written = 0;
    const event = `data: ${'x'.repeat(65_536)}\n\n`;
    const server = await start(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let count = 0; count < 400; count++) {
        written++;
        if (!response.write(event)) await new Promise(resolve => response.once('drain', resolve));
      }
      response.end('data: [DONE]\n\n');
    });
    const events = await connect([server.url]).postForEvents(request());
    await new Promise(resolve => setTimeout(resolve, 400));
    expect(written).toBeLessThan(400);
    let count = 0;
    for await (const _ of events) count++;
    expect(count).toBe(400);
  });

  it('is not late when it has come and the event loop was too busy to read it', async () => {
    const server = await start(response => {
      response.writeHead(200, { 'content-type': 'application/json' });
      // Written after the event loop has polled, so that timers come before the next poll.
      setImmediate(() => {
        response.end(JSON.stringify(ANSWER));
        process.nextTick(() => blockFor(2 * FIRST_BYTE_MS));
      });
    });
    expect(await connect([server.url]).postForJson(request())).toEqual(ANSWER);
  });

  it('is not silent when its bytes have come and the event loop was too busy to read them', async () => {
    const server = await start(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
      // Written after the event loop has polled, so that timers come before the next poll.
      const write = () => {
        response.end('data: 2\n\ndata: [DONE]\n\n');
        process.nextTick(() => blockFor(2 * SILENCE_MS));
      };
      setTimeout(() => setImmediate(write), SILENCE_MS / 3);
    });
    expect(await readAll(connect([server.url]))).toEqual(['1', '2']);
  });
});

describe('a server that keeps failing', () => {
  it('is left alone, then tried by one request, and asked again when that succeeds', async () => {
    let nowMs = 0;
    const failing = steps.json(BUSY, 500);
    const server = await start(failing, failing, failing, steps.json(ANSWER));
    const breaker = { failureLimit: 2, pauseMs: 1_000, now: () => nowMs };
    const upstream = connect([server.url], { breaker });
    for (let count = 0; count < 2; count++) await errorOf(upstream.postForJson(request()));
    expect(await errorOf(upstream.postForJson(request()))).toMatchObject({
      code: 'unavailable',
      retryAfterMs: 1_000,
    });
    expect(upstream.servers).toMatchObject([{ breaker: 'open', requestCount: 2, failureCount: 2 }]);
    expect(upstream.remainingMs).toBe(1_000);
    nowMs = 1_000;
    expect(upstream.servers).toMatchObject([{ breaker: 'half_open' }]);
    expect(await errorOf(upstream.postForJson(request()))).toMatchObject({ code: 'failed' });
    nowMs = 2_500;
    expect(await errorOf(upstream.postForJson(request()))).toMatchObject({ retryAfterMs: 500 });
    nowMs = 3_000;
    expect(await upstream.postForJson(request())).toEqual(ANSWER);
    expect(upstream.servers).toMatchObject([{ breaker: 'closed', requestCount: 4, failureCount: 3 }]);
    expect(server.bodies).toHaveLength(4);
  });

  it.each([
    ['refuses at once, is tried once a second', 0, 1_000],
    ['takes its time, is left alone for longer and longer', 60_000, 4_000],
  ])('and %s', async (_, costMs, pauseMs) => {
    let nowMs = 0;
    const server = await start((response, incoming) => {
      nowMs += costMs;
      steps.json(BUSY, 503)(response, incoming);
    });
    const upstream = connect([server.url], { breaker: { failureLimit: 1, now: () => nowMs } });
    for (let trial = 0; trial < 3; trial++) {
      await errorOf(upstream.postForJson(request()));
      nowMs += trial < 2 ? upstream.remainingMs : 0;
    }
    expect(upstream.remainingMs).toBe(pauseMs);
  });

  it('is asked by all again once the answer to the trial has begun, and by none after the next failure', async () => {
    let nowMs = 0;
    const failing = steps.json(BUSY, 500);
    const begins = steps.eventsThenSilence('data: 1\n\n');
    const server = await start(failing, failing, begins, begins, failing);
    const upstream = connect([server.url], { breaker: { failureLimit: 2, now: () => nowMs } });
    for (let count = 0; count < 2; count++) await errorOf(upstream.postForJson(request()));
    nowMs = 1_000;
    const trial = await upstream.postForEvents(request());
    expect(upstream.servers).toMatchObject([{ breaker: 'closed', openCount: 1 }]);
    const other = await upstream.postForEvents(request());
    expect(openCounts(upstream)).toEqual([2]);
    await errorOf(upstream.postForJson(request()));
    expect(upstream.servers).toMatchObject([{ breaker: 'open' }]);
    await trial.return!();
    await other.return!();
  });

  it('is asked for documents all the same, which says nothing of its completions', async () => {
    const server = await start(steps.json(BUSY, 500), steps.json(BUSY, 500), steps.json({ data: [] }));
    const upstream = connect([server.url], { breaker: { failureLimit: 1 } });
    await errorOf(upstream.postForJson(request()));
    const { signal } = new AbortController();
    expect(await errorOf(upstream.getJson(0, 'models', signal))).toMatchObject({ code: 'failed' });
    expect(await upstream.getJson(0, 'models', signal)).toEqual({ data: [] });
    expect(upstream.servers).toMatchObject([{ breaker: 'open', requestCount: 1, failureCount: 1 }]);
  });
});

describe('the key of the servers', () => {
  it('is not in an error, also where the server repeats it', async () => {
    const server = await start(steps.json({ error: { message: 'no key like secret-key here' } }, 401));
    const error = await errorOf(connect([server.url], { apiKey: 'secret-key' }).postForJson(request()));
    expect(error.message).toContain('no key like *** here');
    expect(JSON.stringify([error.message, error.body, error])).not.toContain('secret-key');
  });
});
